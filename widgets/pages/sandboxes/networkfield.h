// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <widgets/forms/schemafield.h>

class QComboBox;

namespace gb::ui {

class TokensField;

// Off, on, what the kind of sandbox gets by itself, or a list of hosts.
class NetworkField final : public SchemaField
{
    Q_OBJECT

public:
    explicit NetworkField(QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;

private:
    QComboBox* m_mode = nullptr;
    TokensField* m_hosts = nullptr;
};

} // namespace gb::ui
