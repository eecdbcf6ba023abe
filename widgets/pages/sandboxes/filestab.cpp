// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "filestab.h"

#include <QDir>
#include <QDrag>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTreeWidget>

#include <backend/base/ids.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "filetransfer.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr std::int64_t largestText = 512 * 1024;
constexpr int kindRole = Qt::UserRole;
constexpr int sizeRole = Qt::UserRole + 1;
constexpr int largestFolder = 20'000;

constexpr std::int64_t largestDrag = 64LL << 20;

class FileList final : public QTreeWidget
{
public:
    explicit FileList(std::function<void()> dragged) : m_dragged(std::move(dragged)) { }

protected:
    void startDrag(Qt::DropActions) override { m_dragged(); }

private:
    std::function<void()> m_dragged;
};

bool looksLikeText(const std::string& bytes)
{
    return bytes.find('\0') == std::string::npos;
}

} // namespace

FilesTab::FilesTab(api::Client& client, QWidget* parent) : SandboxTab(client, parent)
{
    setAcceptDrops(true);
    m_banner = new Banner;
    m_stack = new QStackedWidget;
    m_stack->addWidget(makeBrowser());
    m_stack->addWidget(makeEditor());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, space::s);
    layout->setSpacing(space::s);
    layout->addWidget(m_banner);
    layout->addWidget(m_stack, 1);
    updateButtons();
}

FilesTab::~FilesTab() = default;

QWidget* FilesTab::makeBrowser()
{
    auto* browser = new QWidget;
    auto* up = makeButton(SandboxText::tr("Up"), ButtonKind::Normal, QStringLiteral("chevron-up"));
    m_path = new QLineEdit;
    m_path->setFont(Theme::instance().monospace());
    m_path->setAccessibleName(SandboxText::tr("Folder in the sandbox"));
    auto* reload = makeIconButton(QStringLiteral("refresh"), SandboxText::tr("Look again"));
    auto* folder = makeButton(SandboxText::tr("New folder"), ButtonKind::Normal, QStringLiteral("folder"));
    auto* in = makeButton(SandboxText::tr("Upload…"), ButtonKind::Normal, QStringLiteral("upload"));
    m_download = makeButton(SandboxText::tr("Download…"), ButtonKind::Normal, QStringLiteral("download"));
    m_open = makeButton(SandboxText::tr("Edit"), ButtonKind::Normal, QStringLiteral("edit"));
    auto* tools = new QHBoxLayout;
    tools->setSpacing(space::s);
    tools->addWidget(up);
    tools->addWidget(m_path, 1);
    for (QWidget* tool : std::initializer_list<QWidget*>{reload, folder, in, m_download, m_open})
        tools->addWidget(tool);
    m_list = new FileList([this] { dragOut(); });
    m_list->setDragEnabled(true);
    m_list->setHeaderLabels({SandboxText::tr("Name"), SandboxText::tr("Size"), SandboxText::tr("Changed")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAccessibleName(SandboxText::tr("Files in the sandbox"));
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_list->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_list->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    auto* onList = new QVBoxLayout(m_list->viewport());
    m_empty = makeLabel(
        SandboxText::tr("This folder is empty. Drop files here, or press Upload."), TextRole::Secondary);
    m_empty->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_empty->hide();
    onList->addWidget(m_empty, 0, Qt::AlignCenter);
    m_status = makeLabel(
        SandboxText::tr("Drop files here to carry them in; drag one out to copy it."), TextRole::Caption);
    auto* layout = new QVBoxLayout(browser);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addLayout(tools);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_status);
    connect(up, &QPushButton::clicked, this, [this] {
        openFolder(
            m_folder == "/" ? m_folder : m_folder.substr(0, std::max<std::size_t>(1, m_folder.rfind('/'))));
    });
    connect(m_path, &QLineEdit::returnPressed, this,
        [this] { openFolder(m_path->text().trimmed().toStdString()); });
    connect(reload, &QToolButton::clicked, this, [this] { openFolder(m_folder); });
    connect(folder, &QPushButton::clicked, this, &FilesTab::makeFolder);
    connect(in, &QPushButton::clicked, this,
        [this] { upload(QFileDialog::getOpenFileNames(this, SandboxText::tr("Files for the sandbox"))); });
    connect(m_download, &QPushButton::clicked, this, &FilesTab::download);
    connect(m_open, &QPushButton::clicked, this, [this] { activate(m_list->currentItem()); });
    connect(m_list, &QTreeWidget::itemActivated, this, &FilesTab::activate);
    connect(m_list, &QTreeWidget::currentItemChanged, this, &FilesTab::updateButtons);
    return browser;
}

QWidget* FilesTab::makeEditor()
{
    auto* page = new QWidget;
    auto* back = makeButton(SandboxText::tr("Back"), ButtonKind::Normal, QStringLiteral("chevron-left"));
    m_save = makeButton(SandboxText::tr("Save in the sandbox"), ButtonKind::Primary);
    m_editingName = makeLabel({}, TextRole::Mono);
    m_editor = new QPlainTextEdit;
    m_editor->setFont(Theme::instance().monospace());
    m_editor->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_editor->setAccessibleName(SandboxText::tr("Text of the file"));
    auto* tools = new QHBoxLayout;
    tools->setSpacing(space::s);
    tools->addWidget(back);
    tools->addWidget(m_editingName, 1);
    tools->addWidget(m_save);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addLayout(tools);
    layout->addWidget(m_editor, 1);
    auto* keys = new QShortcut(QKeySequence(QKeySequence::Save), page);
    keys->setContext(Qt::WidgetWithChildrenShortcut);
    connect(keys, &QShortcut::activated, this, &FilesTab::save);
    connect(back, &QPushButton::clicked, this, [this] {
        m_editing.clear();
        m_stack->setCurrentIndex(0);
        m_list->setFocus();
    });
    connect(m_save, &QPushButton::clicked, this, &FilesTab::save);
    connect(m_editor, &QPlainTextEdit::modificationChanged, m_save, &QPushButton::setEnabled);
    return page;
}

void FilesTab::changed(bool other)
{
    if (other) {
        m_folder = "/workspace";
        m_loaded = false;
        m_editing.clear();
        m_list->clear();
        m_banner->dismiss();
        m_stack->setCurrentIndex(0);
    }
    setEnabled(m_ready);
    activated();
}

void FilesTab::activated()
{
    if (isLive() && !m_loaded)
        openFolder(m_folder);
}

void FilesTab::openFolder(const std::string& path)
{
    m_folder = path.empty() || path.front() != '/' ? "/" + path : path;
    while (m_folder.size() > 1 && m_folder.back() == '/')
        m_folder.pop_back();
    m_loaded = true;
    m_path->setText(QString::fromStdString(m_folder));
    m_list->clear();
    m_empty->hide();
    m_banner->dismiss();
    load({});
}

void FilesTab::load(const std::string& after)
{
    Json params{{"sandbox", m_sandbox}, {"path", m_folder}};
    if (!after.empty())
        params["after"] = after;
    m_client.call(this, "sandboxes.list_files", params,
        [this, asked = m_folder, of = m_sandbox](Result<api::Answer> answer) {
            if (asked != m_folder || of != m_sandbox)
                return;
            if (!answer)
                return report(SandboxText::tr("This folder cannot be read"), tl::unexpected(answer.error()));
            const auto entries =
                answer->body.contains("entries") ? answer->body["entries"] : Json(Json::array());
            addEntries(entries);
            m_empty->setVisible(m_list->topLevelItemCount() == 0);
            if (boolOr(answer->body, "more") && !entries.empty()
                && m_list->topLevelItemCount() < largestFolder)
                load(stringOr(entries.back(), "name"));
        });
}

void FilesTab::addEntries(const Json& entries)
{
    QList<QTreeWidgetItem*> items;
    for (const auto& entry : entries) {
        const auto kind = stringOr(entry, "kind");
        const bool folder = kind == "directory" || kind == "folder" || kind == "dir";
        auto* item = new QTreeWidgetItem(
            {textField(entry, "name"), folder ? QString() : bytesText(numberOr(entry, "size")),
                timeField(entry, "modified") > 0 ? exactTimeText(timeField(entry, "modified")) : QString()});
        item->setIcon(0, icon(folder ? QStringLiteral("folder") : QStringLiteral("file")));
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
        item->setData(0, kindRole, folder);
        item->setData(0, sizeRole, static_cast<qlonglong>(integerOr(entry, "size")));
        items += item;
    }
    std::ranges::stable_sort(items, [](const QTreeWidgetItem* a, const QTreeWidgetItem* b) {
        return a->data(0, kindRole).toBool() && !b->data(0, kindRole).toBool();
    });
    m_list->addTopLevelItems(items);
    if (!m_list->currentItem() && m_list->topLevelItemCount() > 0)
        m_list->setCurrentItem(m_list->topLevelItem(0));
    updateButtons();
}

void FilesTab::updateButtons()
{
    const auto* item = m_list->currentItem();
    m_download->setEnabled(item && !item->data(0, kindRole).toBool());
    m_open->setEnabled(item != nullptr);
    m_open->setText(
        item && item->data(0, kindRole).toBool() ? SandboxText::tr("Open") : SandboxText::tr("Edit"));
}

std::string FilesTab::inFolder(const std::string& name) const
{
    return m_folder == "/" ? "/" + name : m_folder + "/" + name;
}

void FilesTab::activate(QTreeWidgetItem* item)
{
    if (!item)
        return;
    const auto path = inFolder(item->text(0).toStdString());
    if (item->data(0, kindRole).toBool())
        openFolder(path);
    else if (item->data(0, sizeRole).toLongLong() > largestText)
        m_banner->show(Tone::Info, SandboxText::tr("This file is too large to edit here"),
            SandboxText::tr("Download it, or use the console."));
    else
        edit(path);
}

void FilesTab::edit(const std::string& path)
{
    const Json params{{"sandbox", m_sandbox}, {"path", path}, {"limit", largestText}};
    m_client.call(this, "sandboxes.read", params, [this, path](Result<api::Answer> answer) {
        if (!answer)
            return report(SandboxText::tr("This file cannot be read"), tl::unexpected(answer.error()));
        const auto text = QString::fromUtf8(answer->attachment);
        if (!looksLikeText(answer->attachment) || text.toStdString() != answer->attachment) {
            m_banner->show(Tone::Info, SandboxText::tr("This is not a text"),
                SandboxText::tr("Download it to look at it."));
            return;
        }
        m_editing = path;
        m_editingName->setText(QString::fromStdString(path));
        m_editor->setPlainText(text);
        m_editor->document()->setModified(false);
        m_save->setEnabled(false);
        m_stack->setCurrentIndex(1);
        m_editor->setFocus();
    });
}

void FilesTab::save()
{
    if (m_editing.empty())
        return;
    const Json params{
        {"sandbox", m_sandbox}, {"path", m_editing}, {"transfer", newId()}, {"offset", 0}, {"final", true}};
    m_client.call(
        this, "sandboxes.put", params,
        [this](Result<api::Answer> answer) {
            if (!answer)
                return report(SandboxText::tr("It was not saved"), tl::unexpected(answer.error()));
            m_editor->document()->setModified(false);
        },
        m_editor->toPlainText().toStdString());
}

void FilesTab::upload(const QStringList& files)
{
    for (const auto& file : files) {
        const QFileInfo info(file);
        auto* transfer = new FileTransfer(m_client, m_sandbox, this);
        connect(transfer, &FileTransfer::progressed, this,
            [this, name = info.fileName()](qint64 done, qint64 total) {
                m_status->setText(SandboxText::tr("%1: %2 of %3")
                                      .arg(name, bytesText(static_cast<double>(done)),
                                          bytesText(static_cast<double>(total))));
            });
        transfer->upload(file, inFolder(info.fileName().toStdString()), [this, info](const Status& status) {
            if (!status)
                return report(SandboxText::tr("%1 was not carried in").arg(info.fileName()), status);
            openFolder(m_folder);
        });
    }
}

void FilesTab::download()
{
    const auto* item = m_list->currentItem();
    if (!item)
        return;
    const auto name = item->text(0);
    const auto folder = QStandardPaths::writableLocation(QStandardPaths::DownloadLocation);
    const auto target =
        QFileDialog::getSaveFileName(this, SandboxText::tr("Save the file"), QDir(folder).filePath(name));
    if (target.isEmpty())
        return;
    auto* transfer = new FileTransfer(m_client, m_sandbox, this);
    transfer->download(inFolder(name.toStdString()), target, [this, name](const Status& status) {
        if (!status)
            return report(SandboxText::tr("%1 was not downloaded").arg(name), status);
        m_status->setText(SandboxText::tr("%1 is there.").arg(name));
    });
}

void FilesTab::carryOut(const QString& name, std::function<void(const QUrl&)> done)
{
    if (!m_carried)
        m_carried = std::make_unique<QTemporaryDir>();
    // Code inside chooses the names: one is never a way to somewhere else.
    const QDir place(m_carried->filePath(QString::number(++m_carriedCount)));
    if (name.contains(QLatin1Char('/')) || name == QLatin1String("..") || !place.mkpath(QStringLiteral(".")))
        return;
    const auto target = place.filePath(name);
    auto* transfer = new FileTransfer(m_client, m_sandbox, this);
    transfer->download(inFolder(name.toStdString()), target,
        [this, name, target, done = std::move(done)](const Status& status) {
            if (!status)
                return report(SandboxText::tr("%1 was not carried out").arg(name), status);
            done(QUrl::fromLocalFile(target));
        });
}

void FilesTab::dragOut()
{
    const auto* item = m_list->currentItem();
    if (!item || item->data(0, kindRole).toBool())
        return;
    const auto name = item->text(0);
    if (item->data(0, sizeRole).toLongLong() > largestDrag) {
        m_status->setText(SandboxText::tr("%1 is too large to be dragged: download it.").arg(name));
        return;
    }
    carryOut(name, [this, name](const QUrl& file) {
        if (!QGuiApplication::mouseButtons().testFlag(Qt::LeftButton)) {
            m_status->setText(SandboxText::tr("%1 was let go before it was here.").arg(name));
            return;
        }
        auto* data = new QMimeData; // belongs to the drag
        data->setUrls({file});
        auto* drag = new QDrag(m_list);
        drag->setMimeData(data);
        drag->setPixmap(iconPixmap(QStringLiteral("file"), 20, tokens().accent, devicePixelRatioF()));
        drag->exec(Qt::CopyAction);
    });
}

void FilesTab::makeFolder()
{
    const auto name =
        QInputDialog::getText(this, SandboxText::tr("New folder"), SandboxText::tr("Name")).trimmed();
    if (name.isEmpty())
        return;
    const Json params{{"sandbox", m_sandbox}, {"path", inFolder(name.toStdString())}};
    m_client.call(this, "sandboxes.mkdir", params, [this](Result<api::Answer> answer) {
        if (!answer)
            return report(SandboxText::tr("The folder was not made"), tl::unexpected(answer.error()));
        openFolder(m_folder);
    });
}

void FilesTab::report(const QString& what, const Status& status)
{
    m_banner->showError(what, status.error());
}

void FilesTab::dragEnterEvent(QDragEnterEvent* event)
{
    const auto urls = event->mimeData()->urls();
    if (event->source() != m_list && !urls.isEmpty()
        && std::ranges::all_of(urls, [](const QUrl& url) { return url.isLocalFile(); }))
        event->acceptProposedAction();
}

void FilesTab::dropEvent(QDropEvent* event)
{
    QStringList files;
    for (const auto& url : event->mimeData()->urls())
        if (QFileInfo(url.toLocalFile()).isFile())
            files += url.toLocalFile();
    event->acceptProposedAction();
    upload(files);
}

} // namespace gb::ui
