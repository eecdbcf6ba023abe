// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "planpanel.h"

#include <QDesktopServices>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QUrl>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/logview.h>
#include <widgets/controls/numbers.h>
#include <widgets/forms/draft.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>

#include "logfollower.h"
#include "steprow.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int planDelayMs = 400;
constexpr int shownLogLines = 12;

QString reachText(const Json& reach)
{
    const auto what = stringOr(reach, "what");
    const auto value = textField(reach, "value");
    if (what == "path")
        return SandboxText::tr("the file or folder %1").arg(value);
    if (what == "secret")
        return SandboxText::tr("the secret %1").arg(value);
    if (what == "network")
        return SandboxText::tr("the network: %1").arg(value);
    if (what == "interpreter")
        return SandboxText::tr("the Python %1 and its packages").arg(value);
    return value;
}

} // namespace

PlanPanel::PlanPanel(api::Client& client, Draft& draft, QWidget* parent)
    : QWidget(parent), m_client(client), m_draft(draft),
      m_describe([](const SpecProblem& problem) { return QString::fromStdString(problem.message); })
{
    setProperty("gbSide", true);
    setAttribute(Qt::WA_StyledBackground);
    m_title = makeLabel(SandboxText::tr("Plan"), TextRole::Heading);
    m_summary = makeLabel({}, TextRole::Secondary);
    m_summary->setWordWrap(true);
    m_banner = new Banner;
    m_trust = makeFrame(FrameKind::Well);
    auto* question = new QVBoxLayout(m_trust);
    question->setContentsMargins(space::m, space::m, space::m, space::m);
    question->setSpacing(space::s);
    question->addWidget(
        makeLabel(SandboxText::tr("This experiment comes from somewhere else"), TextRole::Strong));
    auto* sentence =
        makeLabel(SandboxText::tr("When it starts, its code can reach this outside its folder:"));
    sentence->setWordWrap(true);
    question->addWidget(sentence);
    m_reaches = new QVBoxLayout;
    question->addLayout(m_reaches);
    auto* answers = new QHBoxLayout;
    m_no = makeButton(SandboxText::tr("Do not start"));
    m_yes = makeButton(SandboxText::tr("Allow this and start"), ButtonKind::Primary);
    answers->addWidget(m_no);
    answers->addWidget(m_yes);
    answers->addStretch(1);
    question->addLayout(answers);
    m_trust->hide();
    auto* steps = new QWidget;
    m_rows = new QVBoxLayout(steps);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(0);
    m_rows->addStretch(1);
    m_logButton = makeButton(SandboxText::tr("Log"), ButtonKind::Normal, QStringLiteral("text"));
    m_logButton->setCheckable(true);
    m_cancel = makeButton(SandboxText::tr("Cancel"), ButtonKind::Normal, QStringLiteral("close"));
    m_back =
        makeButton(SandboxText::tr("Back to the plan"), ButtonKind::Normal, QStringLiteral("chevron-left"));
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(space::s);
    buttons->addWidget(m_logButton);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_back);
    buttons->addStretch(1);
    m_log = new LogView;
    m_log->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::l, space::l, space::l);
    layout->setSpacing(space::s);
    layout->addWidget(m_title);
    layout->addWidget(m_summary);
    layout->addWidget(m_banner);
    layout->addWidget(m_trust);
    layout->addWidget(makeScroll(steps), 2);
    layout->addLayout(buttons);
    layout->addWidget(m_log, 3);
    m_follower = new LogFollower(m_client, this);
    m_soon.setSingleShot(true);
    m_soon.setInterval(planDelayMs);
    connect(&m_soon, &QTimer::timeout, this, &PlanPanel::askForPlan);
    connect(&m_draft, &Draft::changed, this, [this] {
        // Nothing of it is left to be read, as there is after a failure.
        if (m_phase == Phase::Cancelled)
            forget();
        else
            plan();
    });
    connect(&m_client, &api::Client::connected, this, &PlanPanel::plan);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("jobs") && isStarting())
            followJob();
    });
    connect(m_follower, &LogFollower::began, m_log, &LogView::clear);
    connect(m_follower, &LogFollower::arrived, this, [this](const QByteArray& bytes) {
        m_log->append({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    });
    connect(m_logButton, &QPushButton::toggled, m_log, &QWidget::setVisible);
    connect(m_cancel, &QPushButton::clicked, this, &PlanPanel::cancel);
    connect(m_back, &QPushButton::clicked, this, &PlanPanel::forget);
    connect(m_no, &QPushButton::clicked, this, [this] {
        setPhase(Phase::Planned);
        m_summary->setFocus();
    });
    connect(m_yes, &QPushButton::clicked, this, [this] { send(true); });
    setPhase(Phase::Planning);
    plan();
}

void PlanPanel::setDescriber(std::function<QString(const SpecProblem&)> describe)
{
    m_describe = std::move(describe);
}

void PlanPanel::setExperiment(const QString& folder)
{
    m_folder = folder;
    plan();
}

void PlanPanel::plan()
{
    if (isStarting() || m_phase == Phase::Failed || m_phase == Phase::Cancelled)
        return;
    ++m_round;
    if (!m_draft.isValid()) {
        m_soon.stop();
        showWrong();
        return;
    }
    if (m_phase == Phase::Wrong) {
        m_inTheWay.clear();
        m_banner->dismiss();
        setPhase(Phase::Planning);
    }
    m_soon.start();
}

void PlanPanel::showWrong()
{
    m_inTheWay.clear();
    const auto wrong = static_cast<int>(obstacles().size());
    m_banner->show(Tone::Error, SandboxText::tr("%n value(s) cannot be used", nullptr, wrong),
        SandboxText::tr("The plan follows when that is mended."));
    m_banner->addAction(SandboxText::tr("Show"), [this] { showObstacle(); });
    m_summary->clear();
    setPhase(Phase::Wrong);
}

void PlanPanel::askForPlan()
{
    const auto spec = SandboxSpec::fromJson(m_draft.values());
    if (!spec || m_client.state() != api::Client::State::Connected)
        return;
    Json params{{"spec", spec->toJson()}};
    if (!m_folder.isEmpty())
        params["experiment"] = m_folder.toStdString();
    m_client.call(this, "sandboxes.plan", params, [this, round = m_round](Result<api::Answer> answer) {
        if (round != m_round || isStarting())
            return;
        if (answer)
            return takePlan(answer->body);
        if (stringOr(answer.error().data, "field") == "gpu" && m_draft.value("gpu").is_string())
            return askAboutGpu();
        m_banner->showError(SandboxText::tr("There is no plan"), answer.error());
        m_banner->addAction(SandboxText::tr("Try again"), [this] { plan(); });
        m_summary->clear();
        setPhase(Phase::NoPlan);
    });
}

void PlanPanel::askAboutGpu()
{
    const auto gpu = textField(m_draft.values(), "gpu");
    m_banner->show(Tone::Warning, SandboxText::tr("This provider has no %1").arg(gpu),
        SandboxText::tr("Nothing starts until you choose."));
    m_banner->addAction(SandboxText::tr("Run without a GPU"), [this] {
        m_draft.set(Json{{"gpu", nullptr}, {"gpu_count", m_draft.defaultValue("gpu_count")}});
    });
    m_banner->addAction(
        SandboxText::tr("Another provider"), [this] { Q_EMIT fieldRequested(QStringLiteral("provider")); });
    m_banner->addAction(SandboxText::tr("Do not start"), [this, gpu] {
        m_banner->dismiss();
        m_summary->setText(SandboxText::tr("Not started: this provider has no %1.").arg(gpu));
    });
    showSteps(Json::array());
    m_summary->clear();
    m_inTheWay = QStringList{QString()}; // the banner has the choices
    setPhase(Phase::Wrong);
}

void PlanPanel::takePlan(const Json& plan)
{
    m_plan = plan;
    m_inTheWay.clear();
    m_banner->dismiss();
    showSteps(plan.contains("steps") ? plan["steps"] : Json(Json::array()));
    double bytes = 0;
    double seconds = 0;
    int fresh = 0;
    bool isTimed = true; // a download takes what it takes, and a first time is not known
    for (const auto& step : plan.contains("steps") ? plan["steps"] : Json(Json::array())) {
        if (boolOr(step, "reused"))
            continue;
        ++fresh;
        bytes += numberOr(step, "bytes");
        seconds += numberOr(step, "seconds");
        isTimed = isTimed && stringOr(step, "kind") != "model" && numberOr(step, "seconds") > 0;
    }
    QStringList parts{SandboxText::tr("%n step(s) to do", nullptr, fresh)};
    if (bytes > 0)
        parts += bytesText(bytes);
    if (seconds > 0 && isTimed)
        parts += SandboxText::tr("about %1").arg(durationText(static_cast<std::int64_t>(seconds * 1e9)));
    if (const auto price = numberOr(plan, "price_per_hour"); price > 0)
        parts += SandboxText::tr("%1 per hour").arg(moneyText(price));
    m_summary->setText(parts.join(QStringLiteral(" · ")));
    const auto problems = plan.contains("problems") ? plan["problems"] : Json(Json::array());
    for (const auto& problem : problems)
        if (stringOr(problem, "field") == "gpu" && m_draft.value("gpu").is_string())
            return askAboutGpu();
    showProblems(problems);
    offerAccess(plan.contains("steps") ? plan["steps"] : Json(Json::array()));
    setPhase(Phase::Planned);
}

void PlanPanel::showProblems(const Json& problems)
{
    QStringList errors;
    QStringList warnings;
    QString field;
    std::vector<SpecProblem> found;
    for (const auto& problem : problems) {
        const bool isError = stringOr(problem, "severity") != "warning";
        found.push_back({stringOr(problem, "field"), stringOr(problem, "message"), stringOr(problem, "fix"),
            isError ? SpecProblem::Severity::Error : SpecProblem::Severity::Warning});
        if (isError)
            m_inTheWay += textField(problem, "field");
        else if (field.isEmpty())
            field = textField(problem, "field");
        (isError ? errors : warnings) += m_describe(found.back());
    }
    Q_EMIT problemsFound(found);
    if (found.empty())
        return;
    if (m_steps.isEmpty())
        m_summary->clear(); // nothing was counted
    m_banner->show(errors.isEmpty() ? Tone::Warning : Tone::Error,
        errors.isEmpty() ? SandboxText::tr("Look at this before you start")
                         : SandboxText::tr("It cannot start like this"),
        (errors + warnings).join(QLatin1Char('\n')));
    if (errors.isEmpty() && !field.isEmpty())
        m_banner->addAction(SandboxText::tr("Show"), [this, field] { Q_EMIT fieldRequested(field); });
    if (std::ranges::any_of(m_inTheWay, [](const QString& path) { return !path.isEmpty(); }))
        m_banner->addAction(SandboxText::tr("Show"), [this] { showObstacle(); });
}

void PlanPanel::offerAccess(const Json& steps)
{
    for (const auto& step : steps) {
        const auto page = textField(step, "page");
        if (page.isEmpty())
            continue;
        offerPage(page);
        m_banner->addAction(SandboxText::tr("Look again"), [this] { plan(); });
        return;
    }
}

// Where somebody asks for access to a model.
void PlanPanel::offerPage(const QString& address)
{
    const QUrl page(address);
    if (page.scheme() == QLatin1String("https") || page.scheme() == QLatin1String("http"))
        m_banner->addAction(
            SandboxText::tr("Open the model's page"), [page] { QDesktopServices::openUrl(page); });
}

void PlanPanel::showSteps(const Json& steps)
{
    for (auto* row : m_steps) {
        row->hide();
        row->deleteLater();
    }
    m_steps.clear();
    for (const auto& step : steps) {
        m_steps += new StepRow(step);
        m_rows->insertWidget(m_rows->count() - 1, m_steps.last());
    }
}

bool PlanPanel::canStart() const
{
    switch (m_phase) {
    case Phase::Planned:
        return m_draft.isValid() && m_inTheWay.isEmpty();
    case Phase::Failed:
    case Phase::Cancelled:
    case Phase::NoPlan:
        return m_draft.isValid();
    default:
        return false;
    }
}

QStringList PlanPanel::obstacles() const
{
    if (isStarting() || m_phase == Phase::Ready)
        return {};
    if (m_draft.isValid())
        return m_phase == Phase::Planned || m_phase == Phase::Wrong ? m_inTheWay : QStringList();
    QStringList fields;
    for (const auto& problem : m_draft.problems())
        if (problem.severity == SpecProblem::Severity::Error)
            fields += QString::fromStdString(problem.field);
    return fields;
}

void PlanPanel::showObstacle()
{
    if (m_phase == Phase::Asking)
        return m_no->setFocus();
    auto fields = obstacles();
    fields.removeAll(QString());
    if (!fields.isEmpty())
        Q_EMIT oneOfRequested(fields);
    else if (m_banner->isVisible())
        m_banner->enter();
}

void PlanPanel::start()
{
    if (!canStart())
        return;
    if (boolOr(m_plan, "needs_trust"))
        return askForTrust();
    send(false);
}

void PlanPanel::askForTrust()
{
    clearLayout(m_reaches);
    const auto reaches = m_plan.contains("reaches") ? m_plan["reaches"] : Json(Json::array());
    for (const auto& reach : reaches) {
        auto* line = makeLabel(QStringLiteral("•  ") + reachText(reach));
        line->setWordWrap(true);
        m_reaches->addWidget(line);
    }
    if (reaches.empty())
        m_reaches->addWidget(makeLabel(SandboxText::tr("nothing"), TextRole::Secondary));
    setPhase(Phase::Asking);
    m_no->setFocus(); // Enter by habit allows nothing
}

void PlanPanel::send(bool trusted)
{
    const auto spec = SandboxSpec::fromJson(m_draft.values());
    if (!spec)
        return;
    Json params{{"spec", spec->toJson()}};
    if (!m_folder.isEmpty())
        params["experiment"] = m_folder.toStdString();
    if (trusted)
        params["trust"] = true;
    // The daemon does not see this window's environment; what was asked for by name travels with the request.
    for (const auto& name : spec->secrets)
        if (const auto value = qgetenv(name.c_str()); !value.isEmpty())
            params["secrets"][name] = value.toStdString();
    for (auto* row : m_steps)
        row->setState(StepRow::State::Planned);
    m_banner->dismiss();
    m_sandbox.clear();
    m_job.clear();
    setPhase(Phase::Starting);
    m_client.call(this, "sandboxes.start", params, [this](Result<api::Answer> answer) {
        if (!answer)
            return failed(answer.error(), {});
        follow(stringOr(answer->body, "sandbox"), stringOr(answer->body, "job"));
    });
}

void PlanPanel::follow(const std::string& sandbox, const std::string& job)
{
    m_sandbox = sandbox;
    m_job = job;
    m_follower->follow(sandbox);
    m_follower->setActive(true);
    setPhase(Phase::Starting);
    if (m_steps.isEmpty())
        m_client.call(
            this, "sandboxes.get", {{"sandbox", sandbox}}, [this, sandbox](Result<api::Answer> answer) {
                if (answer && sandbox == m_sandbox && answer->body.contains("steps"))
                    showSteps(answer->body["steps"]);
                followJob();
            });
    whenJobEnds(m_client, this, job, [this, job](Result<Json> outcome) {
        if (job != m_job)
            return;
        if (outcome)
            ended(*outcome);
        else
            failed(outcome.error(), {});
    });
    followJob();
}

void PlanPanel::followJob()
{
    const auto& jobs = m_client.items("jobs");
    if (!jobs.is_object() || !jobs.contains(m_job))
        return;
    const auto& job = jobs[m_job];
    const auto progress = objectOr(job, "progress");
    const auto done = static_cast<int>(integerOr(progress, "done"));
    const auto message = textField(job, "message");
    for (int i = 0; i < m_steps.size(); ++i) {
        const auto state = i < done ? StepRow::State::Done
            : i == done             ? StepRow::State::Running
                                    : StepRow::State::Planned;
        const auto part = i == done ? objectOr(progress, "part") : Json(Json::object());
        const bool says = i == done && part.empty() && message != m_steps[i]->title();
        m_steps[i]->setState(state, says ? message : QString());
        if (!part.empty())
            m_steps[i]->setPart(part);
    }
    const auto total = integerOr(progress, "total", m_steps.size());
    m_summary->setText(SandboxText::tr("step %1 of %2").arg(qMin<std::int64_t>(done + 1, total)).arg(total));
}

void PlanPanel::ended(const Json& job)
{
    m_follower->setActive(false);
    m_follower->readOn();
    const auto state = stringOr(job, "state");
    if (state == "done") {
        for (auto* row : m_steps)
            row->setState(StepRow::State::Done);
        const auto sandbox = QString::fromStdString(m_sandbox);
        m_banner->dismiss();
        setPhase(Phase::Ready);
        Q_EMIT ready(sandbox);
        return;
    }
    const auto error =
        job.contains("error") ? Error::fromJson(job["error"]) : Error{"cancelled", "It was cancelled."};
    if (state == "cancelled" || error.code == "cancelled") {
        for (auto* row : m_steps)
            if (row->state() == StepRow::State::Running)
                row->setState(StepRow::State::Cancelled, SandboxText::tr("Cancelled here."));
            else if (row->state() != StepRow::State::Done)
                row->setState(StepRow::State::Skipped);
        m_banner->show(Tone::Info, SandboxText::tr("The start was cancelled"),
            SandboxText::tr("Nothing of it is running. What was built is kept for the next time."));
        m_banner->addAction(SandboxText::tr("Start again"), [this] { start(); });
        m_summary->clear();
        setPhase(Phase::Cancelled);
        return;
    }
    failed(error, textField(job, "message"));
}

void PlanPanel::failed(const Error& error, const QString& message)
{
    m_follower->setActive(false);
    bool reached = true;
    for (auto* row : m_steps) {
        if (row->state() == StepRow::State::Running || (reached && row->state() == StepRow::State::Planned)) {
            row->setState(StepRow::State::Failed, message == row->title() ? QString() : message);
            reached = false;
        } else if (!reached) {
            row->setState(StepRow::State::Skipped);
        }
    }
    const auto field = textField(error.data, "field");
    setPhase(Phase::Failed);
    m_summary->clear();
    const auto tail = m_follower->lastLines(shownLogLines);
    m_banner->show(Tone::Error, SandboxText::tr("The sandbox did not start"),
        field.isEmpty() ? errorSentence(error)
                        : m_describe({field.toStdString(), error.message, stringOr(error.data, "fix")}),
        tail.isEmpty() ? errorDetails(error) : tail);
    m_banner->openDetails();
    m_banner->addAction(SandboxText::tr("Try again"), [this] { start(); });
    if (!field.isEmpty())
        m_banner->addAction(
            SandboxText::tr("Edit the field"), [this, field] { Q_EMIT fieldRequested(field); });
    if (const auto page = textField(error.data, "page"); !page.isEmpty())
        offerPage(page);
    if (!m_sandbox.empty())
        m_banner->addAction(SandboxText::tr("Open the log"), [this] { showLog(true); });
}

void PlanPanel::cancel()
{
    if (m_job.empty())
        return;
    m_cancel->setEnabled(false);
    m_client.call(this, "jobs.cancel", {{"job", m_job}}, [this](Result<api::Answer> answer) {
        m_cancel->setEnabled(true);
        if (!answer)
            m_banner->showError(SandboxText::tr("It could not be cancelled"), answer.error());
    });
}

void PlanPanel::forget()
{
    m_sandbox.clear();
    m_job.clear();
    m_follower->setActive(false);
    m_follower->follow({});
    m_logButton->setChecked(false);
    m_banner->dismiss();
    showSteps(Json::array());
    setPhase(Phase::Planning);
    plan();
}

void PlanPanel::showLog(bool shown)
{
    m_logButton->setChecked(shown);
}

void PlanPanel::setPhase(Phase phase)
{
    m_phase = phase;
    const bool live = phase == Phase::Starting || phase == Phase::Failed || phase == Phase::Cancelled
        || phase == Phase::Ready;
    m_title->setText(phase == Phase::Starting ? SandboxText::tr("Starting") : SandboxText::tr("Plan"));
    m_trust->setVisible(phase == Phase::Asking);
    m_logButton->setVisible(live);
    m_cancel->setVisible(phase == Phase::Starting);
    m_back->setVisible(phase == Phase::Failed || phase == Phase::Cancelled);
    if (phase == Phase::Planning)
        m_summary->setText(SandboxText::tr("Looking at what is already there…"));
    Q_EMIT phaseChanged();
}

} // namespace gb::ui
