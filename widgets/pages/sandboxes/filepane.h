// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>
#include <QWidget>

#include <backend/base/json.h>

class QLabel;
class QPlainTextEdit;

namespace gb::ui {

class Banner;
class Draft;
class ExperimentFile;

// experiment.toml beside the form: what the form makes of it, and what can be typed instead.
class FilePane final : public QWidget
{
    Q_OBJECT

public:
    FilePane(ExperimentFile& file, Draft& draft, QWidget* parent = nullptr);
    QPlainTextEdit* editor() const { return m_editor; }

private:
    void showText();
    void takeTyped();

    ExperimentFile& m_file;
    Draft& m_draft;
    QLabel* m_title = nullptr;
    Banner* m_banner = nullptr;
    QPlainTextEdit* m_editor = nullptr;
    QTimer m_typed;
    bool m_wrong = false;
};

} // namespace gb::ui
