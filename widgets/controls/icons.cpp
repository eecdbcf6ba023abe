// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "icons.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>
#include <QTemporaryDir>

#include "theme.h"

namespace gb::ui {
namespace {

QByteArray iconSource(const QString& name)
{
    static QHash<QString, QByteArray> sources;
    auto found = sources.constFind(name);
    if (found == sources.constEnd()) {
        QFile file(QStringLiteral(":/glovebox/icons/%1.svg").arg(name));
        const bool opened = file.open(QIODevice::ReadOnly);
        Q_ASSERT_X(opened, "icon", qPrintable(name));
        found = sources.insert(name, opened ? file.readAll() : QByteArray());
    }
    return *found;
}

class ThemeIconEngine final : public QIconEngine
{
public:
    explicit ThemeIconEngine(QString name, QColor color = {}) : m_name(std::move(name)), m_color(color) { }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override
    {
        const auto ratio = painter->device()->devicePixelRatioF();
        painter->drawPixmap(
            rect, iconPixmap(m_name, qMin(rect.width(), rect.height()), colorFor(mode, state), ratio));
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        return scaledPixmap(size, mode, state, 1);
    }
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal scale) override
    {
        const auto picture = iconPixmap(
            m_name, qRound(qMin(size.width(), size.height()) / scale), colorFor(mode, state), scale);
        return size.width() > size.height() && !picture.isNull() ? withGap(picture, size) : picture;
    }
    QIconEngine* clone() const override { return new ThemeIconEngine(m_name, m_color); }

private:
    // What is wider than high leaves room between the icon and the text behind it.
    static QPixmap withGap(const QPixmap& picture, const QSize& size)
    {
        QPixmap wide(size);
        wide.setDevicePixelRatio(picture.devicePixelRatio());
        wide.fill(Qt::transparent);
        QPainter painter(&wide);
        painter.drawPixmap(0, 0, picture);
        return wide;
    }
    QColor colorFor(QIcon::Mode mode, QIcon::State state) const
    {
        const auto& t = tokens();
        if (mode == QIcon::Disabled)
            return t.disabled;
        if (m_color.isValid())
            return m_color;
        if (state == QIcon::On)
            return t.accent;
        return mode == QIcon::Active || mode == QIcon::Selected ? t.text : t.secondary;
    }

    QString m_name;
    QColor m_color;
};

} // namespace

QPixmap iconPixmap(const QString& name, int size, const QColor& color, qreal ratio)
{
    const auto key = QStringLiteral("gb:%1:%2:%3:%4").arg(name).arg(size).arg(color.name()).arg(ratio);
    QPixmap picture;
    // A button that has not been laid out yet asks for an icon without a size.
    if (size <= 0 || QPixmapCache::find(key, &picture))
        return picture;
    auto svg = iconSource(name);
    svg.replace("currentColor", color.name().toLatin1());
    // The drawing is 20 units wide: what is 1.5 px there must stay 1.5 px at this size.
    svg.replace(
        "stroke-width=\"1.5\"", "stroke-width=\"" + QByteArray::number(1.5 * 20 / size, 'f', 3) + '"');
    QSvgRenderer renderer(svg);
    picture = QPixmap(QSize(size, size) * ratio);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    renderer.render(&painter);
    painter.end();
    picture.setDevicePixelRatio(ratio);
    QPixmapCache::insert(key, picture);
    return picture;
}

QIcon icon(const QString& name)
{
    return QIcon(new ThemeIconEngine(name));
}

QIcon icon(const QString& name, const QColor& color)
{
    return QIcon(new ThemeIconEngine(name, color));
}

QString iconFile(const QString& name, const QColor& color)
{
    static QTemporaryDir folder;
    const auto path = folder.filePath(name + color.name().mid(1) + QStringLiteral(".svg"));
    if (!QFile::exists(path)) {
        auto svg = iconSource(name);
        svg.replace("currentColor", color.name().toLatin1());
        svg.replace("stroke-width=\"1.5\"", "stroke-width=\"2.2\"");
        QFile file(path);
        if (file.open(QIODevice::WriteOnly))
            file.write(svg);
    }
    return path;
}

QStringList iconNames()
{
    QStringList names;
    for (const auto& file : QDir(QStringLiteral(":/glovebox/icons")).entryList({QStringLiteral("*.svg")}))
        names.append(file.chopped(4));
    return names;
}

} // namespace gb::ui
