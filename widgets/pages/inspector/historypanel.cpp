// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "historypanel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

#include <backend/base/clock.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/filterfield.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int agingMs = 10'000;

QString historyIcon(const CallSummary& call)
{
    if (call.isRunning())
        return QStringLiteral("clock");
    if (call.state == QLatin1String("ok"))
        return QStringLiteral("success");
    return call.state == QLatin1String("cancelled") ? QStringLiteral("stop") : QStringLiteral("error");
}

// Two lines: what was called and when, by whom and what came of it. The left edge is the caller's colour.
class HistoryDelegate final : public QStyledItemDelegate
{
public:
    HistoryDelegate(const CallsItemModel* model, QObject* parent)
        : QStyledItemDelegate(parent), m_model(model)
    { }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        const auto& theme = Theme::instance();
        return {100,
            QFontMetrics(theme.font(TextSize::Body)).height()
                + QFontMetrics(theme.font(TextSize::Caption)).height() + space::m};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto& call = m_model->at(index.row());
        const auto& t = tokens();
        const auto& theme = Theme::instance();
        painter->setRenderHint(QPainter::Antialiasing);
        if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver))
            painter->fillRect(option.rect,
                option.state & QStyle::State_Selected ? t.accentSoft : mixed(t.surface, t.text, 0.04));
        painter->fillRect(option.rect.left(), option.rect.top() + 3, 3, option.rect.height() - 6,
            callerColor(t, call.callerKind, call.callerName));
        auto box = option.rect.adjusted(space::m, space::xs + 1, -space::s, -space::xs - 1);
        const auto tone = call.state == QLatin1String("ok") ? Tone::Success : StatePill::toneOf(call.state);
        painter->drawPixmap(box.left(), box.center().y() - 7,
            iconPixmap(historyIcon(call), 16, toneColor(t, tone), painter->device()->devicePixelRatioF()));
        box.setLeft(box.left() + 16 + space::s);

        painter->setFont(theme.font(TextSize::Caption));
        painter->setPen(t.secondary);
        const auto when = call.isRunning() ? call.state : agoText(call.at, wallMs());
        painter->drawText(box, Qt::AlignRight | Qt::AlignTop, when);
        const auto took = call.durationNs > 0 ? durationText(call.durationNs) : QString();
        painter->drawText(box, Qt::AlignRight | Qt::AlignBottom, took);
        auto below = box;
        below.setRight(box.right() - painter->fontMetrics().horizontalAdvance(took) - space::s);
        auto preview = call.comment.isEmpty() ? call.preview
                                              : QStringLiteral("“%1”  %2").arg(call.comment, call.preview);
        preview.replace(QLatin1Char('\n'), QLatin1Char(' '));
        painter->setPen(tone == Tone::Error ? t.error : t.secondary);
        painter->drawText(below, Qt::AlignLeft | Qt::AlignBottom,
            painter->fontMetrics().elidedText(preview, Qt::ElideRight, below.width()));
        auto above = box;
        above.setRight(box.right() - painter->fontMetrics().horizontalAdvance(when) - space::s);
        painter->setFont(theme.font(TextSize::Body));
        painter->setPen(t.text);
        painter->drawText(above, Qt::AlignLeft | Qt::AlignTop,
            painter->fontMetrics().elidedText(
                call.pinned ? QStringLiteral("★ ") + call.function : call.function, Qt::ElideRight,
                above.width()));
        if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_Selected) {
            painter->setPen(QPen(t.accent, 1));
            painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
        }
    }

private:
    const CallsItemModel* m_model;
};

} // namespace

HistoryPanel::HistoryPanel(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    m_model = new CallsItemModel(client, this);
    m_filter = new FilterField(InspectorText::tr("Filter calls"));
    m_filter->setSyntaxHelp({{QStringLiteral("fn:steer"), InspectorText::tr("of this function")},
        {QStringLiteral("status:error"), InspectorText::tr("that failed")},
        {QStringLiteral("dur:>500ms"), InspectorText::tr("that took longer")},
        {QStringLiteral("by:agent"), InspectorText::tr("by person, script or agent")},
        {QStringLiteral("arg.layer:12"), InspectorText::tr("with this argument")},
        {QStringLiteral("pinned:yes"), InspectorText::tr("that are pinned")},
        {QStringLiteral("-fn:greet"), InspectorText::tr("not of this function")}});
    m_list = new QListView;
    // Before the list hears of it: it would make a neighbour current, which nobody chose.
    connect(m_model, &QAbstractItemModel::rowsAboutToBeRemoved, this,
        [this](const QModelIndex&, int first, int last) {
            const auto row = m_list->currentIndex().row();
            if (row >= first && row <= last)
                m_left = m_model->at(row).id;
            m_removing = true;
        });
    m_list->setModel(m_model);
    connect(m_model, &QAbstractItemModel::rowsRemoved, this, [this] {
        m_removing = false;
        if (!m_left.isEmpty())
            select(m_left);
    });
    m_list->setItemDelegate(new HistoryDelegate(m_model, m_list));
    m_list->setUniformItemSizes(true);
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setAccessibleName(InspectorText::tr("Calls"));
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_problem = makeLabel({}, TextRole::Error);
    m_problem->setWordWrap(true);
    m_problem->hide();
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_list);
    m_stack->addWidget(new EmptyState(QStringLiteral("history"), InspectorText::tr("No calls"),
        InspectorText::tr("Calls by the window, by scripts and by agents appear here as they are made.")));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_filter);
    layout->addWidget(m_problem);
    layout->addWidget(m_stack, 1);

    createActions();
    connect(m_filter, &FilterField::filterChanged, this, [this](const QString& filter) {
        m_problem->hide();
        m_model->setFilter(filter);
    });
    connect(m_model, &CallsItemModel::refused, this, [this](const Error& error) {
        m_problem->setText(errorSentence(error));
        m_problem->show();
    });
    connect(m_model, &CallsItemModel::listed, m_problem, &QWidget::hide);
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(m_model, signal, this, &HistoryPanel::showEmpty);
    connect(m_model, &CallsItemModel::listed, this, &HistoryPanel::showEmpty);
    // A call that ends leaves the list and comes back with its result.
    const auto selectBack = [this] {
        if (!m_left.isEmpty() && m_model->rowOf(m_left) >= 0)
            selectAwaited();
    };
    connect(m_model, &CallsItemModel::listed, this, selectBack);
    connect(m_model, &QAbstractItemModel::rowsInserted, this, selectBack);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this,
        [this](const QModelIndex& index) {
            if (!index.isValid() || m_removing)
                return;
            m_left.clear();
            m_choosing = true;
            Q_EMIT chosen(m_model->at(index.row()));
            m_choosing = false;
        });
    connect(m_list, &QListView::activated, this,
        [this](const QModelIndex& index) { Q_EMIT resendRequested(m_model->at(index.row())); });
    connect(m_list, &QWidget::customContextMenuRequested, this, &HistoryPanel::showMenu);
    connect(&Theme::instance(), &Theme::changed, m_list->viewport(), qOverload<>(&QWidget::update));
    // "12 s ago" grows older.
    auto* clock = new QTimer(this);
    connect(clock, &QTimer::timeout, m_list->viewport(), qOverload<>(&QWidget::update));
    clock->start(agingMs);
}

void HistoryPanel::showEmpty()
{
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
}

void HistoryPanel::select(const QString& call)
{
    const auto row = m_model->rowOf(call);
    // Whoever adds a second call to the first one wants both; the list marks them when this is over.
    if (m_choosing && row >= 0 && row == m_list->currentIndex().row())
        return;
    const QSignalBlocker quiet(m_list->selectionModel());
    if (row >= 0)
        m_list->setCurrentIndex(m_model->index(row));
    else
        m_list->clearSelection();
    m_list->viewport()->update();
}

void HistoryPanel::follow(const QString& call)
{
    m_left = call;
    selectAwaited();
}

void HistoryPanel::selectAwaited()
{
    if (!m_left.isEmpty() && m_model->rowOf(m_left) >= 0)
        select(std::exchange(m_left, {}));
    else
        select({});
}

void HistoryPanel::focusList()
{
    // What was current may have lost its selection; without one nothing could be compared.
    const auto current = m_list->currentIndex();
    if (m_model->rowCount() > 0 && !m_list->selectionModel()->hasSelection())
        m_list->selectionModel()->setCurrentIndex(
            current.isValid() ? current : m_model->index(0), QItemSelectionModel::ClearAndSelect);
    m_list->setFocus();
}

void HistoryPanel::setFilter(const QString& filter)
{
    m_filter->setText(filter);
}

void HistoryPanel::showMenu(const QPoint& at)
{
    const auto index = m_list->indexAt(at);
    if (!index.isValid())
        return;
    const auto call = m_model->at(index.row());
    QMenu menu(this);
    menu.addAction(
        InspectorText::tr("Edit and resend"), this, [this, call] { Q_EMIT resendRequested(call); });
    menu.addAction(call.pinned ? InspectorText::tr("Unpin") : InspectorText::tr("Pin"), this, [this, call] {
        annotate(call, {{"pin", !call.pinned}});
    });
    menu.addAction(InspectorText::tr("Comment…"), this, [this, call] { comment(call); });
    menu.addSeparator();
    menu.addActions(m_actions);
    menu.addSeparator();
    menu.addAction(InspectorText::tr("Show only %1").arg(call.function), this,
        [this, call] { m_filter->setText(QStringLiteral("fn:") + call.function); });
    menu.addAction(InspectorText::tr("Copy the call's id"), this,
        [call] { QGuiApplication::clipboard()->setText(call.id); });
    menu.exec(m_list->viewport()->mapToGlobal(at));
}

} // namespace gb::ui
