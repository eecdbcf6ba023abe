// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAbstractButton>

#include <backend/base/json.h>

namespace gb::ui {

// One experiment as a button: name, folder, when it was opened.
class ExperimentRow final : public QAbstractButton
{
    Q_OBJECT

public:
    explicit ExperimentRow(const Json& experiment, QWidget* parent = nullptr);
    QSize sizeHint() const override;

Q_SIGNALS:
    void chosen(const QString& folder);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_name;
    QString m_folder;
    std::int64_t m_openedAt = 0;
};

} // namespace gb::ui
