// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "sandboxtab.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QStackedWidget;
class QTemporaryDir;
class QTreeWidget;
class QTreeWidgetItem;
class QUrl;

namespace gb::ui {

class Banner;
class FileTransfer;

// The files inside: look around, carry them in and out, edit a small text in place.
class FilesTab final : public SandboxTab
{
    Q_OBJECT

public:
    explicit FilesTab(api::Client& client, QWidget* parent = nullptr);
    ~FilesTab() override;
    void openFolder(const std::string& path);
    void upload(const QStringList& files);
    void edit(const std::string& path);
    // Brings a copy of a file of this folder to this machine, for whom it is dragged to.
    void carryOut(const QString& name, std::function<void(const QUrl&)> done);
    QTreeWidget* list() const { return m_list; }
    QPlainTextEdit* editor() const { return m_editor; }
    void save();
    std::string folder() const { return m_folder; }

protected:
    void changed(bool other) override;
    void activated() override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* makeBrowser();
    QWidget* makeEditor();
    void load(const std::string& after);
    void addEntries(const Json& entries);
    void activate(QTreeWidgetItem* item);
    void download();
    void makeFolder();
    void dragOut();
    std::string inFolder(const std::string& name) const;
    void report(const QString& what, const Status& status);
    void updateButtons();

    std::unique_ptr<QTemporaryDir> m_carried; // files on their way to other programs
    int m_carriedCount = 0;
    std::string m_folder = "/workspace";
    std::string m_editing;
    bool m_loaded = false;
    Banner* m_banner = nullptr;
    QStackedWidget* m_stack = nullptr;
    QLineEdit* m_path = nullptr;
    QTreeWidget* m_list = nullptr;
    QLabel* m_status = nullptr;
    QLabel* m_empty = nullptr;
    QPlainTextEdit* m_editor = nullptr;
    QLabel* m_editingName = nullptr;
    QPushButton *m_download = nullptr, *m_open = nullptr, *m_save = nullptr;
};

} // namespace gb::ui
