// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "networkfield.h"

#include <QComboBox>
#include <QVBoxLayout>

#include <widgets/controls/tokens.h>
#include <widgets/forms/tokensfield.h>

#include "text.h"

namespace gb::ui {
namespace {

enum NetworkRow { DefaultRow, OffRow, OnRow, HostsRow };

} // namespace

NetworkField::NetworkField(QWidget* parent) : SchemaField(parent), m_mode(new QComboBox)
{
    m_mode->addItems({SandboxText::tr("Package indexes only (nothing when scoped)"),
        SandboxText::tr("Off: nothing"), SandboxText::tr("On: everything, this machine's services too"),
        SandboxText::tr("Package indexes and these hosts")});
    m_hosts = new TokensField(SandboxText::tr("data.example.org, *.example.org, host:8443"));
    m_hosts->setVisible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_mode);
    layout->addWidget(m_hosts);
    setFocusProxy(m_mode);
    connect(m_mode, &QComboBox::activated, this, [this](int row) {
        m_hosts->setVisible(row == HostsRow);
        Q_EMIT edited();
    });
    connect(m_hosts, &SchemaField::edited, this, &SchemaField::edited);
}

Json NetworkField::value() const
{
    switch (m_mode->currentIndex()) {
    case OffRow:
        return "off";
    case OnRow:
        return "on";
    case HostsRow:
        return m_hosts->value();
    default:
        return nullptr;
    }
}

void NetworkField::setValue(const Json& value)
{
    const bool hosts = value.is_array();
    m_mode->setCurrentIndex(hosts ? HostsRow : value == "off" ? OffRow : value == "on" ? OnRow : DefaultRow);
    m_hosts->setVisible(hosts);
    m_hosts->setValue(hosts ? value : Json::array());
}

} // namespace gb::ui
