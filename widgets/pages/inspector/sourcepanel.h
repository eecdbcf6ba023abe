// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>
#include <QWidget>

#include <backend/api/client.h>

class QAction;
class QLabel;

namespace gb::ui {

class Banner;
class CodeEditor;
class ElidedLabel;

// The interface file in an editor: what is wrong with it beside the lines, saved and loaded again with
// Ctrl+S.
class SourcePanel final : public QWidget
{
    Q_OBJECT

public:
    explicit SourcePanel(api::Client& client, QWidget* parent = nullptr);

    // Shows this line of the interface's file. What somebody typed stays when it is the same interface.
    void showSource(const std::string& interface, int line);
    // The file was loaded again by somebody: read it anew unless it is being edited here.
    void refresh();
    bool isChanged() const;
    CodeEditor* editor() const { return m_editor; }
    QAction* saveAction() const { return m_save; }
    bool settled() const { return !m_loading; }
    QString path() const { return m_path; }

private:
    void load();
    void check();
    void showFindings(const Json& findings);
    void save();
    void onSaved(const Result<api::Answer>& answer);
    void showLoadError(const Json& error);
    void updateState();

    api::Client& m_client;
    std::string m_interface;
    std::string m_etag;
    QString m_path;
    int m_line = 1;
    int m_checked = 0; // answers to older questions are dropped
    bool m_loading = false;
    QTimer m_soon;
    QAction* m_save = nullptr;
    QAction* m_revert = nullptr;
    ElidedLabel* m_file = nullptr;
    QLabel* m_state = nullptr;
    Banner* m_banner = nullptr;
    CodeEditor* m_editor = nullptr;
};

} // namespace gb::ui
