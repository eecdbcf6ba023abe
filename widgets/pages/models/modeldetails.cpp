// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modeldetails.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHash>
#include <QHeaderView>
#include <QScrollArea>
#include <QTabWidget>
#include <QTreeWidget>

#include <backend/base/clock.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/keyvaluelist.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/viewers/jsonview.h>

#include "text.h"

namespace gb::ui {
namespace {

// Walking over the table with the arrow keys must not ask the hub for every row.
constexpr int askAfterMs = 250;

const Json& arrayIn(const Json& object, const char* key)
{
    static const Json none = Json::array();
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() && found->is_array() ? *found : none;
}

// Content by path: the blob's name, which is the hash of the file.
QHash<QString, QString> hashesOf(const Json& cached)
{
    QHash<QString, QString> hashes;
    for (const auto& revision : arrayIn(cached, "revisions"))
        for (const auto& file : arrayIn(revision, "files"))
            hashes.insert(textField(file, "path"), textField(file, "blob"));
    return hashes;
}

QString typesText(const Json& byType)
{
    QStringList types;
    for (const auto& [type, count] : byType.items())
        if (count.is_number_integer())
            types +=
                QString::fromStdString(type) + QStringLiteral(" ") + countText(count.get<std::int64_t>());
    return types.join(QStringLiteral(", "));
}

} // namespace

ModelDetails::ModelDetails(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, 0, space::m, space::m);
    layout->setSpacing(space::s);
    layout->addWidget(createHead());
    layout->addWidget(createTabs(), 1);
    m_soon.setSingleShot(true);
    m_soon.setInterval(askAfterMs);
    connect(&m_soon, &QTimer::timeout, this, &ModelDetails::request);
}

QWidget* ModelDetails::createHead()
{
    auto* head = new QWidget;
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    m_name = new ElidedLabel({}, TextRole::Heading);
    m_name->setElideMode(Qt::ElideMiddle);
    m_pill = new StatePill;
    auto* line = new QHBoxLayout;
    line->addWidget(m_name, 1);
    line->addWidget(m_pill);
    layout->addLayout(line);
    m_buttons = new QVBoxLayout;
    layout->addLayout(m_buttons);
    m_reason = new Banner;
    layout->addWidget(m_reason);
    m_problem = makeLabel({}, TextRole::Caption);
    m_problem->setWordWrap(true);
    m_problem->hide();
    layout->addWidget(m_problem);
    return head;
}

QWidget* ModelDetails::createTabs()
{
    m_tabs = new QTabWidget;
    m_tabs->setAccessibleName(ModelsText::tr("Parts of the model"));
    m_facts = new KeyValueList;
    auto* facts = new QWidget;
    auto* factsLayout = new QVBoxLayout(facts);
    factsLayout->setContentsMargins(0, space::m, 0, 0);
    factsLayout->addWidget(m_facts);
    factsLayout->addStretch(1);
    connect(m_facts, &KeyValueList::copied, this, &ModelDetails::copied);
    m_files = new QTreeWidget;
    m_files->setAccessibleName(ModelsText::tr("Files of the model"));
    m_files->setRootIsDecorated(false);
    m_files->setUniformRowHeights(true);
    m_files->setHeaderLabels(
        {ModelsText::tr("File"), ModelsText::tr("Size"), ModelsText::tr("Here"), ModelsText::tr("Hash")});
    m_files->setTextElideMode(Qt::ElideMiddle);
    m_files->header()->resizeSection(0, 170);
    m_files->header()->resizeSection(1, 70);
    m_files->header()->resizeSection(2, 60);
    m_config = new JsonView;
    m_tensors = new JsonView;
    auto* disk = new QWidget;
    m_disk = new QVBoxLayout(disk);
    m_disk->setContentsMargins(0, space::m, 0, 0);
    m_disk->setSpacing(space::s);
    m_tabs->addTab(makeScroll(facts), ModelsText::tr("Model"));
    m_tabs->addTab(m_files, ModelsText::tr("Files"));
    m_tabs->addTab(m_config, ModelsText::tr("Config"));
    m_tabs->addTab(m_tensors, ModelsText::tr("Tensors"));
    m_tabs->addTab(makeScroll(disk), ModelsText::tr("Disk"));
    m_tabs->setUsesScrollButtons(true);
    return m_tabs;
}

void ModelDetails::setActions(const QList<QAction*>& actions)
{
    auto* line = new QHBoxLayout;
    line->setSpacing(space::xs);
    for (auto* action : actions)
        line->addWidget(makeActionButton(action));
    line->addStretch();
    m_buttons->addLayout(line);
}

void ModelDetails::clear()
{
    m_model.clear();
    m_row = {};
    m_cached = {};
    m_shown = {};
    m_users.clear();
    m_soon.stop();
}

void ModelDetails::showRow(const ModelRow& row, const Json* cached, const QStringList& users)
{
    const bool other = row.spoken() != m_model;
    // What has become whole is shown from the disk.
    const bool arrived = row.state != m_row.state && row.state == QLatin1String("ready");
    const bool diskChanged = other || (cached ? *cached != m_cached : !m_cached.is_null());
    const bool changed = diskChanged || !(m_row == row) || m_users != users;
    const bool reasonChanged = other || row.reason != m_row.reason || row.state != m_row.state;
    m_row = row;
    m_users = users;
    if (diskChanged)
        m_cached = cached ? *cached : Json();
    if (other || arrived)
        ask(row.spoken());
    if (!changed)
        return;
    m_name->setElidedText(row.name());
    m_pill->setState(row.stateText(), row.tone(), row.isUnderWay() ? 0 : row.since);
    m_pill->show();
    if (reasonChanged) {
        showReason(row);
        showProblems();
    }
    showFacts();
    if (diskChanged) {
        showFiles();
        showDisk();
    }
}

void ModelDetails::look(const QString& model)
{
    clear();
    m_name->setElidedText(model);
    m_pill->hide();
    m_reason->dismiss();
    showDisk();
    ask(model);
}

void ModelDetails::ask(const QString& model)
{
    if (model != m_model)
        m_shown = {};
    m_model = model;
    m_asking = true;
    m_refusal.reset();
    setTextRole(m_problem, TextRole::Caption);
    m_problem->setText(ModelsText::tr("Looking it up…"));
    m_problem->show();
    showFacts();
    showFiles();
    m_config->setText("{}");
    m_tensors->setText("{}");
    m_soon.start();
}

void ModelDetails::request()
{
    if (m_request)
        m_client.cancelRequest(std::exchange(m_request, 0));
    const auto model = m_model;
    m_request = m_client.call(
        this, "models.show", {{"model", model.toStdString()}}, [this, model](Result<api::Answer> answer) {
            if (model != m_model)
                return;
            m_request = 0;
            m_asking = false;
            if (answer) {
                showAnswer(answer->body);
                return;
            }
            m_refusal = answer.error();
            showProblems();
        });
}

void ModelDetails::showAnswer(const Json& answer)
{
    m_shown = answer;
    showProblems();
    if (m_row.key.isEmpty())
        m_name->setElidedText(textField(answer, "repo"));
    showFacts();
    showFiles();
    const auto config = objectOr(answer, answer.contains("config") ? "config" : "adapter_config");
    m_config->setText(config.dump(-1, ' ', false, Json::error_handler_t::replace));
    m_tensors->setText(
        objectOr(objectOr(answer, "tensors"), "files").dump(-1, ' ', false, Json::error_handler_t::replace));
}

void ModelDetails::showProblems()
{
    // What keeps the download waiting stands in the banner already.
    const auto known = stringOr(m_row.reason, "code");
    if (m_refusal) {
        setTextRole(m_problem, TextRole::Error);
        m_problem->setText(ModelsText::tr("The hub could not be asked: %1").arg(errorSentence(*m_refusal)));
        m_problem->setVisible(m_refusal->code != known);
        return;
    }
    if (!m_shown.is_object())
        return;
    setTextRole(m_problem, TextRole::Caption);
    QStringList sentences;
    for (const auto& problem : arrayIn(m_shown, "problems"))
        if (const auto error = Error::fromJson(problem); error.code != known)
            sentences += errorSentence(error);
    m_problem->setText(sentences.join(QLatin1Char('\n')));
    m_problem->setVisible(!sentences.isEmpty());
}

void ModelDetails::showFacts()
{
    QList<KeyValueList::Row> rows;
    const auto add = [&rows](const QString& key, const QString& value, bool mono = false) {
        if (!value.isEmpty())
            rows.append({key, value, mono});
    };
    add(ModelsText::tr("Revision"), m_shown.is_object() ? textField(m_shown, "revision") : m_row.revision);
    add(ModelsText::tr("Commit"), textField(m_shown, "commit"), true);
    const auto tensors = objectOr(m_shown, "tensors");
    if (tensors.contains("parameters"))
        add(ModelsText::tr("Parameters"), countText(integerOr(tensors, "parameters")));
    add(ModelsText::tr("Types"), typesText(objectOr(tensors, "by_dtype")));
    if (m_shown.is_object())
        add(ModelsText::tr("To download"), bytesText(static_cast<double>(integerOr(m_shown, "bytes"))));
    if (m_row.isOnDisk())
        add(ModelsText::tr("On disk"), bytesText(static_cast<double>(m_row.onDisk)));
    if (m_row.lastUsed)
        add(ModelsText::tr("Last used"), agoText(m_row.lastUsed, wallMs()));
    add(ModelsText::tr("Used by"), m_users.join(QStringLiteral(", ")));
    add(ModelsText::tr("Adapter of"), textField(m_shown, "base"));
    add(ModelsText::tr("Access"),
        textField(m_shown, "gated").isEmpty() ? QString() : ModelsText::tr("has to be requested"));
    add(ModelsText::tr("Page"), textField(m_shown, "page"));
    m_facts->setRows(rows);
}

void ModelDetails::showFiles()
{
    m_files->clear();
    const auto hashes = hashesOf(m_cached);
    QList<QTreeWidgetItem*> items;
    const auto add = [&](const QString& path, std::int64_t size, const QString& here) {
        auto* item =
            new QTreeWidgetItem({path, bytesText(static_cast<double>(size)), here, hashes.value(path)});
        item->setToolTip(0, path.toHtmlEscaped());
        item->setToolTip(3, hashes.value(path));
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
        items += item;
    };
    for (const auto& file : arrayIn(m_shown, "files"))
        add(textField(file, "path"), integerOr(file, "size"),
            boolOr(file, "cached")       ? ModelsText::tr("yes")
                : boolOr(file, "chosen") ? ModelsText::tr("no")
                                         : ModelsText::tr("left out"));
    // Without the hub: what the disk knows.
    if (items.isEmpty())
        for (const auto& file : m_row.files)
            add(file.path, file.size, fileStateText(file.state));
    m_files->addTopLevelItems(items);
}

void ModelDetails::showDisk()
{
    clearLayout(m_disk);
    if (!m_cached.is_object()) {
        m_disk->addWidget(makeLabel(ModelsText::tr("Nothing of it is on this disk."), TextRole::Secondary));
        m_disk->addStretch(1);
        return;
    }
    for (const auto& revision : arrayIn(m_cached, "revisions"))
        addRevision(revision);
    if (const auto loose = looseBytes(m_cached); loose > 0) {
        const auto count = arrayIn(m_cached, "orphans").size() + arrayIn(m_cached, "partials").size();
        auto* line = new QHBoxLayout;
        line->addWidget(new ElidedLabel(ModelsText::tr("%1 in %2 partial or unused files")
                                            .arg(bytesText(static_cast<double>(loose)))
                                            .arg(count)),
            1);
        auto* button = makeButton(ModelsText::tr("Delete them"));
        connect(button, &QPushButton::clicked, this,
            [this, loose] { Q_EMIT looseRemovalRequested(m_row.repo, loose); });
        line->addWidget(button);
        m_disk->addLayout(line);
    }
    m_disk->addStretch(1);
}

void ModelDetails::addRevision(const Json& revision)
{
    const auto commit = textField(revision, "commit");
    const auto bytes = integerOr(revision, "bytes");
    QStringList refs;
    for (const auto& ref : arrayIn(revision, "refs"))
        if (ref.is_string())
            refs += QString::fromStdString(ref.get<std::string>());
    const bool complete = boolOr(revision, "complete");
    auto* pill = new StatePill;
    pill->setState(complete ? ModelsText::tr("complete") : ModelsText::tr("incomplete"),
        complete ? Tone::Success : Tone::Warning);
    auto* remove =
        makeIconButton(QStringLiteral("trash"), ModelsText::tr("Delete revision %1").arg(commit.left(12)));
    connect(remove, &QToolButton::clicked, this,
        [this, commit, bytes] { Q_EMIT revisionRemovalRequested(m_row.repo, commit, bytes); });
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    words->addWidget(new ElidedLabel(refs.isEmpty() ? ModelsText::tr("no name leads to it")
                                                    : refs.join(QStringLiteral(", ")) + QStringLiteral(" · ")
                + bytesText(static_cast<double>(bytes))));
    words->addWidget(new ElidedLabel(commit, TextRole::Caption));
    auto* line = new QHBoxLayout;
    line->setSpacing(space::s);
    line->addLayout(words, 1);
    line->addWidget(pill);
    line->addWidget(remove);
    m_disk->addLayout(line);
    m_disk->addWidget(makeLine());
}

void ModelDetails::showReason(const ModelRow& row)
{
    if (!row.reason.is_object()) {
        m_reason->dismiss();
        return;
    }
    const auto error = Error::fromJson(row.reason);
    if (row.state == QLatin1String("waiting_access"))
        m_reason->show(
            Tone::Warning, ModelsText::tr("Access is needed"), errorSentence(error), errorDetails(error));
    else if (row.state == QLatin1String("failed"))
        m_reason->showError(ModelsText::tr("It was not downloaded"), error);
    else if (row.state == QLatin1String("stalled"))
        m_reason->show(Tone::Warning, ModelsText::tr("Nothing comes; it goes on by itself"),
            errorSentence(error), errorDetails(error));
    else
        m_reason->show(Tone::Warning, row.stateText(), errorSentence(error), errorDetails(error));
    if (const auto page = QString::fromStdString(stringOr(error.data, "page")); !page.isEmpty())
        m_reason->addAction(ModelsText::tr("Copy the page's address"), [this, page] { copy(page); });
}

void ModelDetails::copy(const QString& text)
{
    QGuiApplication::clipboard()->setText(text);
    Q_EMIT copied(text);
}

} // namespace gb::ui
