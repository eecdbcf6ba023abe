// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelspage.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QStackedWidget>
#include <QTimer>
#include <QTreeView>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/detailspanel.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/pagebar.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>
#include <widgets/itemmodels/modelnames.h>

#include "modeldetails.h"
#include "modelsdelegate.h"
#include "modelsitemmodel.h"
#include "modeluse.h"
#include "ratelimit.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int modelsAgingMs = 10'000;
constexpr int withLastUsed = 840; // pixels
constexpr int withRemaining = 640;
constexpr int withUsedBy = 110; // is only there while something is in use

} // namespace

ModelsPage::ModelsPage(api::Client& client, QWidget* parent)
    : Page(QStringLiteral("models"), ModelsText::tr("Models"), QStringLiteral("models"), parent),
      m_client(client)
{
    m_model = new ModelsItemModel(client, this);
    m_use = new ModelUse(client, this);
    m_model->setUse(*m_use);
    m_details = new ModelDetails(client);
    createActions();
    createView();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(createMiddle());

    connect(m_model, &ModelsItemModel::refused, this, [this](const Error& error) {
        m_banner->showError(ModelsText::tr("The models on this disk could not be listed"), error);
        m_banner->addAction(ModelsText::tr("Try again"), [this] {
            m_banner->dismiss();
            refresh();
        });
    });
    // Whatever came since the last turn of the event loop is shown once.
    auto* soon = new QTimer(this);
    soon->setSingleShot(true);
    connect(soon, &QTimer::timeout, this, &ModelsPage::showCurrent);
    const auto later = [soon] { soon->start(); };
    connect(m_model, &QAbstractItemModel::rowsInserted, this, later);
    connect(m_model, &QAbstractItemModel::rowsRemoved, this, later);
    connect(m_model, &QAbstractItemModel::dataChanged, this, later);
    connect(m_use, &ModelUse::changed, this, later);
    connect(m_model, &ModelsItemModel::listed, this, &ModelsPage::showFooter);
    connect(m_model, &ModelsItemModel::listed, this, &ModelsPage::showCurrent);
    connect(m_details, &ModelDetails::revisionRemovalRequested, this,
        [this](const QString& repo, const QString& commit, qint64 bytes) {
            askOnce(ModelsText::tr("Delete revision %1 of %2?").arg(commit.left(12), repo),
                ModelsText::tr("Up to %1 become free; files that other revisions use stay.")
                        .arg(bytesText(static_cast<double>(bytes)))
                    + usersText(repo),
                ModelsText::tr("Delete"), [this, repo, commit, isUsed = !m_use->users(repo).isEmpty()] {
                    removeModel(repo,
                        {{"model", (repo + QLatin1Char('@') + commit).toStdString()}, {"force", isUsed}});
                });
        });
    connect(m_details, &ModelDetails::looseRemovalRequested, this, [this](const QString& repo, qint64 bytes) {
        askOnce(ModelsText::tr("Delete what no revision of %1 uses?").arg(repo),
            ModelsText::tr("%1 become free. A paused download begins anew.")
                .arg(bytesText(static_cast<double>(bytes))),
            ModelsText::tr("Delete"), [this, repo] { removeLoose({repo}); });
    });
    connect(m_details, &ModelDetails::copied, this, [this](const QString& text) {
        Q_EMIT notificationRequested(Tone::Success, ModelsText::tr("Copied"), text);
    });
    showCurrent();
}

QAction* ModelsPage::rowAction(const QString& text, const QString& iconName,
    void (ModelsPage::*act)(const ModelRow&), const QString& shortcut)
{
    auto* action = makeAction(this, text, iconName, shortcut);
    connect(action, &QAction::triggered, this, [this, act] {
        if (const auto* row = current())
            (this->*act)(*row);
    });
    return action;
}

void ModelsPage::createActions()
{
    m_add = makeAction(this, ModelsText::tr("Download"), QStringLiteral("download"));
    connect(m_add, &QAction::triggered, this, &ModelsPage::addModel);
    m_look = makeAction(this, ModelsText::tr("Look first"), QStringLiteral("search"));
    m_look->setToolTip(ModelsText::tr("Size, parameters and files, before anything is downloaded"));
    connect(m_look, &QAction::triggered, this, &ModelsPage::lookFirst);
    m_pause = rowAction(
        ModelsText::tr("Pause"), QStringLiteral("pause"), &ModelsPage::pause, QStringLiteral("Ctrl+P"));
    m_resume = rowAction(
        ModelsText::tr("Resume"), QStringLiteral("play"), &ModelsPage::resume, QStringLiteral("Ctrl+R"));
    m_cancel = rowAction(ModelsText::tr("Cancel"), QStringLiteral("close"), &ModelsPage::cancel);
    m_verify = rowAction(ModelsText::tr("Verify"), QStringLiteral("check"), &ModelsPage::verify);
    m_delete = rowAction(ModelsText::tr("Delete…"), QStringLiteral("trash"), &ModelsPage::askToDelete);
    m_pauseAll = makeAction(this, ModelsText::tr("Pause all downloads"), QStringLiteral("pause"));
    connect(m_pauseAll, &QAction::triggered, this,
        [this] { send("models.pause", Json::object(), ModelsText::tr("They were not paused")); });
    m_resumeAll = makeAction(this, ModelsText::tr("Resume all downloads"), QStringLiteral("play"));
    connect(m_resumeAll, &QAction::triggered, this,
        [this] { send("models.resume", Json::object(), ModelsText::tr("They were not resumed")); });
    m_free = makeAction(this, ModelsText::tr("Free space…"), QStringLiteral("disk"));
    connect(m_free, &QAction::triggered, this, [this] {
        QStringList repos;
        std::int64_t bytes = 0;
        for (const auto& model : m_model->cache().value("models", Json::array())) {
            if (const auto loose = looseBytes(model); loose > 0) {
                bytes += loose;
                repos += textField(model, "repo");
            }
        }
        askOnce(ModelsText::tr("Delete partial files and files that no revision uses?"),
            ModelsText::tr("%1 become free. Paused downloads begin anew.")
                .arg(bytesText(static_cast<double>(bytes))),
            ModelsText::tr("Delete"), [this, repos] { removeLoose(repos); });
    });
    m_refresh = makeAction(this, ModelsText::tr("Look at the disk again"), QStringLiteral("refresh"));
    connect(m_refresh, &QAction::triggered, this, &ModelsPage::refresh);
    m_details->setActions({m_pause, m_resume, m_cancel, m_verify, m_delete});
}

QList<QAction*> ModelsPage::pageActions()
{
    return {m_add, m_look, m_pause, m_resume, m_cancel, m_verify, m_delete, m_pauseAll, m_resumeAll, m_free,
        m_refresh};
}

PageBar* ModelsPage::createBar()
{
    auto* bar = new PageBar(ModelsText::tr("Models"));
    m_field = new QLineEdit;
    m_field->setObjectName(QStringLiteral("model"));
    m_field->setPlaceholderText(
        ModelsText::tr("org/name, org/name@revision or the address of a model's page"));
    m_field->setAccessibleName(ModelsText::tr("Model to add"));
    m_field->setClearButtonEnabled(true);
    (new ModelNames(m_client, m_field))->completeIn(m_field);
    connect(m_field, &QLineEdit::returnPressed, m_add, &QAction::trigger);
    const auto enable = [this] {
        const bool named = !m_field->text().trimmed().isEmpty();
        m_add->setEnabled(named);
        m_look->setEnabled(named);
    };
    connect(m_field, &QLineEdit::textChanged, this, enable);
    enable();
    bar->addWidget(m_field, 1);
    bar->addAction(m_look);
    bar->setPrimary(m_add);
    return bar;
}

void ModelsPage::createView()
{
    m_view = new QTreeView;
    m_view->setModel(m_model);
    m_view->setItemDelegate(new ModelsDelegate(m_view));
    m_view->setUniformRowHeights(true);
    m_view->setAccessibleName(ModelsText::tr("Models"));
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setAllColumnsShowFocus(true);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    auto* header = m_view->header();
    header->setStretchLastSection(false);
    header->setSectionResizeMode(ModelsItemModel::Name, QHeaderView::Stretch);
    header->setMinimumSectionSize(56);
    const int widths[] = {240, 136, 76, 108, 84, 84, 84, withUsedBy};
    for (int column = 1; column < ModelsItemModel::ColumnCount; ++column)
        header->resizeSection(column, widths[column]);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &ModelsPage::showCurrent);
    connect(m_view, &QWidget::customContextMenuRequested, this, &ModelsPage::showMenu);
    m_view->installEventFilter(this);
    connect(&Theme::instance(), &Theme::changed, m_view->viewport(), qOverload<>(&QWidget::update));
    // "12 s ago" grows older.
    auto* clock = new QTimer(this);
    connect(clock, &QTimer::timeout, m_view->viewport(), qOverload<>(&QWidget::update));
    clock->start(modelsAgingMs);
}

bool ModelsPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_view && event->type() == QEvent::Resize)
        showColumns();
    return Page::eventFilter(watched, event);
}

// What is least missed makes room for the name.
void ModelsPage::showColumns()
{
    const bool used = m_model->anyInUse();
    const auto room = m_view->width() - (used ? withUsedBy : 0);
    m_view->setColumnHidden(ModelsItemModel::UsedBy, !used);
    m_view->setColumnHidden(ModelsItemModel::LastUsed, room < withLastUsed);
    m_view->setColumnHidden(ModelsItemModel::Remaining, room < withRemaining);
}

QWidget* ModelsPage::createFooter()
{
    auto* footer = new QWidget;
    auto* line = new QHBoxLayout(footer);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(space::s);
    m_footer = new ElidedLabel({}, TextRole::Secondary);
    line->addWidget(m_footer, 1);
    line->addWidget(makeActionButton(m_free));
    auto* limit = new RateLimit(m_client);
    connect(limit, &RateLimit::refused, this, [this](const Error& error) {
        m_banner->showError(ModelsText::tr("The limit was not changed"), error);
    });
    line->addWidget(limit);
    return footer;
}

QWidget* ModelsPage::createMiddle()
{
    auto* left = new QWidget;
    left->setMinimumWidth(420);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(space::xl, space::l, space::l, space::m);
    column->setSpacing(space::s);
    column->addWidget(createBar());
    m_banner = new Banner;
    m_banner->setObjectName(QStringLiteral("page"));
    column->addWidget(m_banner);
    m_verifying = new ProgressRow;
    m_verifying->hide();
    connect(m_verifying, &ProgressRow::cancelRequested, this, [this] {
        send("jobs.cancel", {{"job", m_verifyJob}}, ModelsText::tr("Verifying was not cancelled"));
    });
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        const auto& jobs = m_client.items("jobs");
        if (topic == QLatin1String("jobs") && !m_verifyJob.empty() && jobs.is_object()
            && jobs.contains(m_verifyJob))
            m_verifying->setProgress(progressOf(jobs.at(m_verifyJob)));
    });
    column->addWidget(m_verifying);
    auto* empty = new EmptyState(QStringLiteral("models"), ModelsText::tr("No models yet"),
        ModelsText::tr(
            "Name one above to download it. What other programs put into the hub's cache appears here too."));
    empty->setCommand(QStringLiteral("glovebox models get org/name"));
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_view);
    m_stack->addWidget(empty);
    m_stack->addWidget(makeLabel(ModelsText::tr("Looking at the disk…"), TextRole::Secondary));
    qobject_cast<QLabel*>(m_stack->widget(2))->setAlignment(Qt::AlignCenter);
    column->addWidget(m_stack, 1);
    column->addWidget(createFooter());
    m_panel = new DetailsPanel(ModelsText::tr("Details"));
    m_sides = new QStackedWidget;
    m_sides->addWidget(m_details);
    m_sides->addWidget(new EmptyState(QStringLiteral("info"), ModelsText::tr("Nothing chosen"),
        ModelsText::tr("Choose a model to see what is in it.")));
    m_sides->setCurrentIndex(1);
    m_panel->setContent(m_sides);
    m_panel->setMinimumWidth(36);
    auto* splitter = new Splitter(QStringLiteral("models"), Qt::Horizontal);
    splitter->addWidget(left);
    splitter->addWidget(m_panel);
    splitter->setDefaults({68, 32});
    return splitter;
}

void ModelsPage::refresh()
{
    m_model->refreshCache();
}

void ModelsPage::find()
{
    m_field->setFocus();
    m_field->selectAll();
}

bool ModelsPage::settled() const
{
    return m_model->settled() && m_details->settled();
}

void ModelsPage::showPlace(const QString& place)
{
    m_wanted = place;
    if (place.contains(QLatin1Char('/')))
        m_field->setText(place); // one that is not here can be fetched
    showCurrent();
}

const ModelRow* ModelsPage::current() const
{
    return m_model->rowAt(m_view->currentIndex());
}

void ModelsPage::addModel()
{
    const auto name = m_field->text().trimmed();
    if (name.isEmpty())
        return;
    m_add->setEnabled(false);
    m_client.call(this, "models.get", {{"model", name.toStdString()}}, [this](Result<api::Answer> answer) {
        m_add->setEnabled(true);
        if (!answer) {
            m_banner->showError(ModelsText::tr("It was not added"), answer.error());
            return;
        }
        m_banner->dismiss();
        m_field->clear();
        m_wanted = textField(answer->body, "id");
        showCurrent();
    });
}

void ModelsPage::lookFirst()
{
    m_view->setCurrentIndex({});
    m_panel->setOpen(true);
    m_sides->setCurrentIndex(0);
    m_details->look(m_field->text().trimmed());
}

void ModelsPage::showCurrent()
{
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : m_model->settled() ? 1 : 2);
    showColumns();
    for (int i = 0; i < m_model->rowCount() && !m_wanted.isEmpty(); ++i) {
        const auto index = m_model->index(i, 0);
        const auto* row = m_model->rowAt(index);
        if (row->key != m_wanted && row->repo != m_wanted && row->name() != m_wanted)
            continue;
        if (m_field->text() == m_wanted)
            m_field->clear();
        m_wanted.clear();
        m_view->setCurrentIndex(index); // comes back here
    }
    const auto* row = current();
    m_pause->setVisible(row && row->isUnderWay());
    m_resume->setVisible(row && row->canResume());
    m_resume->setText(row && row->state == QLatin1String("waiting_access") ? ModelsText::tr("Check again")
                                                                           : ModelsText::tr("Resume"));
    m_cancel->setVisible(row && !row->download.isEmpty());
    m_cancel->setText(row && row->state == QLatin1String("ready") ? ModelsText::tr("Take off the list")
                                                                  : ModelsText::tr("Cancel"));
    m_verify->setVisible(row && row->isOnDisk() && !row->isUnderWay());
    m_delete->setVisible(row && row->isOnDisk() && !row->isUnderWay());
    if (row) {
        m_details->showRow(*row, m_model->cachedModel(row->repo), m_use->users(row->repo));
        m_sides->setCurrentIndex(0);
    } else if (!m_details->model().isEmpty() && m_model->rowCount() == 0 && m_details->shown().is_null()
        && m_details->settled()) {
        m_details->clear();
        m_sides->setCurrentIndex(1);
    }
}

void ModelsPage::showFooter()
{
    const auto& cache = m_model->cache();
    if (!cache.is_object()) {
        m_free->setVisible(false);
        return;
    }
    std::int64_t loose = 0;
    std::size_t count = 0;
    if (const auto models = cache.find("models"); models != cache.end() && models->is_array()) {
        count = models->size();
        for (const auto& model : *models)
            loose += looseBytes(model);
    }
    const auto bytes = [](std::int64_t value) { return bytesText(static_cast<double>(value)); };
    QStringList words = {ModelsText::tr("Models: %1").arg(count),
        ModelsText::tr("%1 on disk").arg(bytes(integerOr(cache, "bytes"))),
        ModelsText::tr("%1 free").arg(bytes(integerOr(cache, "free")))};
    if (loose > 0)
        words += ModelsText::tr("%1 can be freed").arg(bytes(loose));
    words += textField(cache, "cache");
    m_footer->setElidedText(words.join(QStringLiteral(" · ")));
    m_free->setVisible(loose > 0);
}

void ModelsPage::showMenu(const QPoint& at)
{
    if (!m_view->indexAt(at).isValid())
        return;
    QMenu menu(this);
    menu.addActions({m_pause, m_resume, m_cancel, m_verify, m_delete});
    menu.exec(m_view->viewport()->mapToGlobal(at));
}

} // namespace gb::ui
