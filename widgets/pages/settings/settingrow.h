// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <backend/base/json.h>

class QToolButton;

namespace gb::ui {

// A label, one grey sentence, and at the right the field with "back to the default".
class SettingRow final : public QWidget
{
    Q_OBJECT

public:
    SettingRow(const QString& title, const QString& help, QWidget* parent = nullptr);
    void setField(QWidget* field);
    void setModified(bool modified);

    // From an entry of settings.list.
    static SettingRow* fromSetting(const Json& setting);

Q_SIGNALS:
    void changed(const gb::Json& value); // null: back to the default
    void resetRequested();

private:
    void createField(const Json& setting);
    void createNumber(const Json& setting);

    QWidget* m_side = nullptr;
    QToolButton* m_reset = nullptr;
};

} // namespace gb::ui
