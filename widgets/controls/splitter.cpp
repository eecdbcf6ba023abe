// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "splitter.h"

#include <memory>

#include <QMouseEvent>
#include <QSettings>

#include "theme.h"

namespace gb::ui {
namespace {

std::unique_ptr<QSettings>& rememberedStore()
{
    static std::unique_ptr<QSettings> store;
    return store;
}

class SplitterGrip final : public QSplitterHandle
{
public:
    SplitterGrip(Qt::Orientation orientation, Splitter* parent)
        : QSplitterHandle(orientation, parent), m_splitter(parent)
    { }

protected:
    void mouseDoubleClickEvent(QMouseEvent*) override { m_splitter->restoreDefaults(); }

private:
    Splitter* m_splitter;
};

} // namespace

void setRememberedFile(const QString& path)
{
    rememberedStore() = std::make_unique<QSettings>(path, QSettings::IniFormat);
}

QSettings& remembered()
{
    auto& store = rememberedStore();
    if (!store)
        store = std::make_unique<QSettings>(QStringLiteral("/dev/null"), QSettings::IniFormat);
    return *store;
}

Splitter::Splitter(const QString& name, Qt::Orientation orientation, QWidget* parent)
    : QSplitter(orientation, parent), m_name(QStringLiteral("splitters/") + name)
{
    // One pixel is seen; Qt widens what the mouse can grab around it.
    setHandleWidth(1);
    setChildrenCollapsible(false);
    connect(this, &QSplitter::splitterMoved, this, [this] { remembered().setValue(m_name, saveState()); });
}

void Splitter::setDefaults(const QList<int>& shares)
{
    m_defaults = shares;
    for (int i = 0; i < shares.size() && i < count(); ++i)
        setStretchFactor(i, shares[i]);
}

void Splitter::restoreDefaults()
{
    remembered().remove(m_name);
    const auto whole = orientation() == Qt::Horizontal ? width() : height();
    int sum = 0;
    for (const auto share : m_defaults)
        sum += share;
    QList<int> sizes;
    for (const auto share : m_defaults)
        sizes.append(sum > 0 ? whole * share / sum : whole);
    setSizes(sizes);
}

QSplitterHandle* Splitter::createHandle()
{
    return new SplitterGrip(orientation(), this);
}

void Splitter::showEvent(QShowEvent* event)
{
    QSplitter::showEvent(event);
    if (m_restored)
        return;
    m_restored = true;
    const auto state = remembered().value(m_name).toByteArray();
    if (state.isEmpty() || !restoreState(state))
        restoreDefaults();
    setHandleWidth(1);
}

} // namespace gb::ui
