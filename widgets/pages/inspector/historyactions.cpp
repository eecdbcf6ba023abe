// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QDialog>
#include <QFile>
#include <QFileDialog>
#include <QInputDialog>
#include <QListView>
#include <QVBoxLayout>

#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/viewers/compareview.h>

#include "callrecords.h"
#include "exporter.h"
#include "historypanel.h"
#include "text.h"

// What is done with calls that were made: compared, commented, written to a file.
namespace gb::ui {
namespace {

// Fetches one result after the other and then hands both on; owned by the window that shows them.
class ResultPair final : public QObject
{
public:
    using Handler = std::function<void(Result<std::string>, Result<std::string>)>;

    ResultPair(
        api::Client& client, QObject* parent, const QString& left, const QString& right, Handler handler)
        : QObject(parent)
    {
        client.call(this, "calls.get", {{"call", left.toStdString()}},
            [this, &client, right, handler = std::move(handler)](Result<api::Answer> first) {
                client.call(this, "calls.get", {{"call", right.toStdString()}},
                    [handler, left = outcomeText(first)](
                        const Result<api::Answer>& second) { handler(left, outcomeText(second)); });
            });
    }
};

} // namespace

void HistoryPanel::createActions()
{
    auto* compare = makeAction(
        this, InspectorText::tr("Compare results"), QStringLiteral("history"), QStringLiteral("Ctrl+D"));
    connect(compare, &QAction::triggered, this, &HistoryPanel::compare);
    auto* save =
        makeAction(this, InspectorText::tr("Export these calls as JSONL…"), QStringLiteral("download"));
    connect(save, &QAction::triggered, this, &HistoryPanel::exportCalls);
    m_actions = {compare, save};
}

void HistoryPanel::annotate(const CallSummary& call, const Json& change)
{
    Json params = {{"call", call.id.toStdString()}};
    params.update(change);
    m_client.call(this, "calls.annotate", params, [this](Result<api::Answer>) { m_model->refresh(); });
}

void HistoryPanel::comment(const CallSummary& call)
{
    bool given = false;
    const auto text = QInputDialog::getMultiLineText(this, InspectorText::tr("Comment"),
        InspectorText::tr("About this call of %1:").arg(call.function), call.comment, &given);
    if (given)
        annotate(call, {{"comment", text.toStdString()}});
}

void HistoryPanel::compare()
{
    auto rows = m_list->selectionModel()->selectedIndexes();
    if (rows.isEmpty() && m_list->currentIndex().isValid())
        rows.append(m_list->currentIndex());
    if (rows.isEmpty())
        return;
    auto newer = rows.first().row();
    auto older = rows.size() > 1 ? rows.at(1).row() : -1;
    if (older >= 0 && older < newer)
        std::swap(older, newer);
    for (int row = newer + 1; older < 0 && row < m_model->rowCount(); ++row)
        if (m_model->at(row).function == m_model->at(newer).function)
            older = row;
    if (older < 0) {
        m_problem->setText(InspectorText::tr("There is no earlier call of this function to compare with."));
        m_problem->show();
        return;
    }
    const auto left = m_model->at(older);
    const auto right = m_model->at(newer);
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(InspectorText::tr("Compare results of %1").arg(right.function));
    dialog->resize(960, 640);
    auto* view = new CompareView;
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(view);
    const auto sideOf = [this](const CallSummary& call) {
        return CompareView::Side{call.function + QStringLiteral(" · ") + exactTimeText(call.at), {},
            [this, interface = call.interfaceId.toStdString()](Json wanted, api::AnswerHandler handler) {
                wanted["interface"] = interface;
                m_client.call(this, "calls.tensor", std::move(wanted), std::move(handler));
            }};
    };
    new ResultPair(m_client, dialog, left.id, right.id,
        [view, older = sideOf(left), newer = sideOf(right)](
            const Result<std::string>& a, const Result<std::string>& b) mutable {
            if (!a || !b)
                return view->setProblem(errorSentence(a ? b.error() : a.error()));
            older.result = *a;
            newer.result = *b;
            view->setResults(older, newer);
        });
    dialog->show();
}

void HistoryPanel::exportCalls()
{
    const auto path =
        QFileDialog::getSaveFileName(this, InspectorText::tr("Export calls"), QStringLiteral("calls.jsonl"));
    if (path.isEmpty())
        return;
    auto* exporter = new CallExporter(m_client, m_model->filter(), path, this);
    connect(
        exporter, &CallExporter::finished, this, [this, exporter, path](int calls, const QString& problem) {
            setTextRole(m_problem, problem.isEmpty() ? TextRole::Secondary : TextRole::Error);
            m_problem->setText(problem.isEmpty()
                    ? InspectorText::tr("%n call(s) written to %1", nullptr, calls).arg(path)
                    : problem);
            m_problem->show();
            exporter->deleteLater();
        });
    exporter->start();
}

} // namespace gb::ui
