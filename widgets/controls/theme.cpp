// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "theme.h"

#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QFontDatabase>
#include <QProxyStyle>
#include <QToolTip>

#include "stylesheet.h"

namespace gb::ui {
namespace {

// Turning the wheel scrolls, whatever is below the mouse: a choice that it passes over keeps its value and
// does not take the focus.
class Style final : public QProxyStyle
{
public:
    Style() : QProxyStyle(QStringLiteral("Fusion")) { }

    using QProxyStyle::polish;
    void polish(QWidget* widget) override
    {
        if (qobject_cast<QComboBox*>(widget)) {
            widget->installEventFilter(this);
            if (widget->focusPolicy() == Qt::WheelFocus)
                widget->setFocusPolicy(Qt::StrongFocus);
        }
        QProxyStyle::polish(widget);
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() != QEvent::Wheel)
            return QProxyStyle::eventFilter(watched, event);
        event->ignore(); // whatever scrolls gets it
        return true;
    }
};

// The platform's own font, unless that is the wide fallback of a machine without a desktop.
QString pickFamily()
{
    const auto system = QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
    if (QFontInfo(QFont(system)).family() != QLatin1String("DejaVu Sans"))
        return system;
    const auto families = QFontDatabase::families();
    for (const auto* family : {"Inter", "Cantarell", "Noto Sans", "Ubuntu", "Open Sans", "Liberation Sans"})
        if (families.contains(QLatin1String(family)))
            return QLatin1String(family);
    return system;
}

} // namespace

Theme& Theme::instance()
{
    // Owned by the application object, so that it goes before Qt's own globals do.
    static Theme* theme = nullptr;
    if (!theme) {
        theme = new Theme;
        QObject::connect(qApp, &QObject::destroyed, [] { theme = nullptr; });
        theme->setParent(qApp);
    }
    return *theme;
}

Theme::Theme() : m_tokens(lightTokens(Accent::Teal)), m_systemPalette(QApplication::palette())
{
    m_family = pickFamily();
    m_monospaceFamily = QFontDatabase::systemFont(QFontDatabase::FixedFont).family();
}

bool Theme::systemIsDark() const
{
    return m_systemPalette.color(QPalette::Window).lightness()
        < m_systemPalette.color(QPalette::WindowText).lightness();
}

void Theme::apply(const Look& look)
{
    m_look = look;
    const bool dark = look.scheme == Scheme::Dark || (look.scheme == Scheme::System && systemIsDark());
    m_tokens = dark ? darkTokens(look.accent) : lightTokens(look.accent);
    if (!m_styled)
        QApplication::setStyle(new Style);
    m_styled = true;
    QApplication::setPalette(palette());
    QApplication::setFont(font(TextSize::Body));
    QToolTip::setFont(font(TextSize::Small));
    qApp->setStyleSheet(makeStyleSheet(*this));
    Q_EMIT changed();
}

int Theme::pixels(TextSize size) const
{
    static constexpr int base[] = {11, 12, 13, 15, 20};
    return qRound(base[static_cast<int>(size)] * m_look.fontPercent / 100.0);
}

QFont Theme::font(TextSize size, QFont::Weight weight) const
{
    QFont font(m_family);
    font.setPixelSize(pixels(size));
    font.setWeight(weight);
    return font;
}

QFont Theme::monospace(TextSize size) const
{
    QFont font(m_monospaceFamily);
    font.setStyleHint(QFont::Monospace);
    font.setFixedPitch(true);
    font.setPixelSize(pixels(size));
    return font;
}

QPalette Theme::palette() const
{
    const auto& t = m_tokens;
    QPalette p;
    p.setColor(QPalette::Window, t.window);
    p.setColor(QPalette::WindowText, t.text);
    p.setColor(QPalette::Base, t.surface);
    p.setColor(QPalette::AlternateBase, t.sunken);
    p.setColor(QPalette::Text, t.text);
    p.setColor(QPalette::PlaceholderText, t.secondary);
    p.setColor(QPalette::Button, t.surface);
    p.setColor(QPalette::ButtonText, t.text);
    p.setColor(QPalette::BrightText, t.error);
    p.setColor(QPalette::Highlight, t.accentSoft);
    p.setColor(QPalette::HighlightedText, t.text);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::LinkVisited, t.accent);
    p.setColor(QPalette::ToolTipBase, t.text);
    p.setColor(QPalette::ToolTipText, t.window);
    p.setColor(QPalette::Light, t.surface);
    p.setColor(QPalette::Midlight, t.border);
    p.setColor(QPalette::Mid, t.border);
    p.setColor(QPalette::Dark, t.secondary);
    p.setColor(QPalette::Shadow, mixed(t.window, Qt::black, 0.5));
    for (const auto role :
        {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        p.setColor(QPalette::Disabled, role, t.disabled);
    p.setColor(QPalette::Disabled, QPalette::Highlight, t.sunken);
    return p;
}

} // namespace gb::ui
