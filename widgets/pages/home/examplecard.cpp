// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "examplecard.h"

#include <utility>

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QProcess>
#include <QStandardPaths>
#include <QTimer>

#include <backend/api/daemonstart.h>
#include <backend/base/shellword.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int servePatienceMs = 30'000;

} // namespace

ExampleCard::ExampleCard(api::Client& client, QString name, Json about, QWidget* parent)
    : QFrame(parent), m_client(client), m_name(std::move(name)), m_about(std::move(about))
{
    setProperty("gbFrame", QStringLiteral("card"));
    auto* shows = makeLabel(textField(m_about, "shows"), TextRole::Secondary);
    shows->setWordWrap(true);
    m_progress = new ProgressRow;
    m_progress->hide();
    connect(m_progress, &ProgressRow::cancelRequested, this, [this] {
        if (m_example)
            m_example->cancel();
    });
    m_banner = new Banner;
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::m, space::l, space::m);
    layout->setSpacing(space::s);
    layout->addWidget(makeLabel(textField(m_about, "title"), TextRole::Strong));
    layout->addWidget(shows);
    layout->addStretch();
    layout->addWidget(m_banner);
    layout->addWidget(m_progress);
    layout->addWidget(createFoot());
}

QWidget* ExampleCard::createFoot()
{
    auto* foot = new QWidget;
    auto* line = new QHBoxLayout(foot);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(makeLabel(
        HomeText::tr("about %n minute(s)", nullptr, static_cast<int>(integerOr(m_about, "minutes", 1))),
        TextRole::Caption));
    line->addStretch();
    m_start = makeButton(HomeText::tr("Start"), ButtonKind::Normal, QStringLiteral("play"));
    m_start->setAccessibleName(HomeText::tr("Start the example %1").arg(textField(m_about, "title")));
    m_start->setToolTip(
        HomeText::tr("Makes an experiment, starts its sandbox, serves its functions and shows them"));
    connect(m_start, &QPushButton::clicked, this, &ExampleCard::start);
    line->addWidget(m_start);
    return foot;
}

bool ExampleCard::isBusy() const
{
    return !m_start->isEnabled();
}

// The focus stays in the card: left alone it would go on to the next card's Start.
void ExampleCard::setBusy(bool busy)
{
    const bool focused = isAncestorOf(QApplication::focusWidget());
    if (busy) {
        showStep({{"step", "folder"}});
        m_progress->show();
        if (focused)
            m_progress->setFocus();
        m_start->setEnabled(false);
        return;
    }
    m_start->setEnabled(true);
    if (focused)
        m_start->setFocus();
    m_progress->hide();
}

void ExampleCard::start()
{
    if (m_example)
        return;
    m_banner->dismiss();
    const auto documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    m_folder = QDir(documents).filePath(QStringLiteral("Glovebox/") + m_name);
    api::ExampleStart::Wish wish;
    wish.example = m_name.toStdString();
    wish.about = m_about;
    wish.folder = m_folder.toStdString();
    wish.sandboxName = wish.example;
    wish.interpreter = m_interpreter.toStdString();
    wish.mayUseImage = m_interpreter.isEmpty();
    wish.model = m_model;
    m_example = new api::ExampleStart(m_client, std::move(wish), this);
    connect(m_example, &api::ExampleStart::moved, this, &ExampleCard::showStep);
    connect(m_example, &api::ExampleStart::finished, this, &ExampleCard::end);
    setBusy(true);
    m_example->start();
}

void ExampleCard::showStep(const Json& step)
{
    auto spec = progressOf(step);
    const auto name = stringOr(step, "step");
    if (!name.empty()) {
        spec = {};
        spec.title =
            name == "folder" ? HomeText::tr("Making the experiment") : HomeText::tr("Loading its functions");
        spec.state = QStringLiteral("running");
    } else if (!spec.message.isEmpty()) {
        // The step says more than the job's name, which stands above already.
        spec.title = std::exchange(spec.message, {});
    }
    if (spec.state != QLatin1String("queued"))
        spec.state = QStringLiteral("running"); // a job that has ended is not the end of the example
    spec.cancellable = m_example != nullptr;
    m_progress->setProgress(spec);
}

void ExampleCard::end()
{
    auto* example = std::exchange(m_example, nullptr);
    const auto outcome = example->outcome();
    const auto error = example->error();
    example->deleteLater();
    setBusy(false);
    m_folder = QString::fromStdString(outcome.folder);
    if (!error) {
        Q_EMIT made(m_folder);
        Q_EMIT served(firstFunction(outcome.interface));
        return;
    }
    // What does not serve is not left running; the folder stays, it may have been there before.
    if (!outcome.sandbox.empty())
        m_client.call(
            this, "sandboxes.stop", {{"sandbox", outcome.sandbox}}, [](const Result<api::Answer>&) {});
    showFailure(*error);
}

QString ExampleCard::firstFunction(const std::string& interface) const
{
    return QString::fromStdString(interface) + QLatin1Char('/')
        + textField(objectOr(m_about, "by_hand"), "function");
}

void ExampleCard::showFailure(const Error& error)
{
    if (error.code == "cancelled")
        return;
    const auto title = textField(m_about, "title");
    if (error.code == "example.model") {
        const auto name = textField(m_about, "suggests");
        m_banner->show(Tone::Info, HomeText::tr("“%1” needs a small model").arg(title),
            name.isEmpty()
                ? HomeText::tr("There is none on this machine yet. Fetch one, or choose a folder that "
                               "has one; then start the example again.")
                : HomeText::tr("There is none on this machine yet. Fetch one, for example %1, or "
                               "choose a folder that has one; then start the example again.")
                      .arg(name));
        m_banner->addAction(HomeText::tr("Fetch a model"),
            [this, name] { Q_EMIT pageRequested(QStringLiteral("models"), name); });
        m_banner->addAction(HomeText::tr("Use a folder…"), [this] { chooseModel(); });
        return;
    }
    m_banner->showError(HomeText::tr("“%1” did not start").arg(title), error);
    if (error.code == "example.isolation") {
        m_banner->addAction(HomeText::tr("Serve without isolation"), [this] { serveWithoutSandbox(); });
    } else if (error.code == "example.modules" || error.code == "example.python") {
        m_banner->addAction(HomeText::tr("Another Python…"), [this] { choosePython(); });
    } else if (error.code == "experiment.untrusted") {
        m_banner->addAction(HomeText::tr("Look at what it reaches"), [this] {
            Q_EMIT made(m_folder);
            Q_EMIT pageRequested(QStringLiteral("sandbox"), {});
        });
    } else {
        m_banner->addAction(HomeText::tr("Try again"), [this] { start(); });
    }
}

void ExampleCard::choosePython()
{
    const auto path = QFileDialog::getOpenFileName(this,
        HomeText::tr("A Python that has %1").arg(compactJson(m_about.value("modules", Json::array()))),
        QStringLiteral("/usr/bin"));
    if (path.isEmpty())
        return;
    m_interpreter = path;
    start();
}

void ExampleCard::chooseModel()
{
    const auto folder =
        QFileDialog::getExistingDirectory(this, HomeText::tr("A folder with a model (config.json in it)"));
    if (folder.isEmpty())
        return;
    m_model = {{"name", "local/" + QDir(folder).dirName().toStdString()}, {"path", folder.toStdString()}};
    start();
}

QString ExampleCard::serveCommand(const QString& folder)
{
    return QStringLiteral("glovebox serve ")
        + QString::fromStdString(shellWord(folder.toStdString() + "/interface.py"));
}

// As `glovebox serve` does: in a process of its own that outlives the window and is stopped from what is
// alive.
void ExampleCard::serveWithoutSandbox()
{
    const auto source = m_folder + QStringLiteral("/interface.py");
    const auto beside = api::daemonProgram(); // all programs of a build lie together
    if (!beside)
        return m_banner->showError(HomeText::tr("The file was not served"), beside.error());
    QProcess program;
    program.setProgram(QString::fromStdString((beside->parent_path() / "glovebox").string()));
    program.setArguments(
        {QStringLiteral("serve"), source, QStringLiteral("--name"), textField(m_about, "library")});
    program.setStandardOutputFile(QProcess::nullDevice());
    program.setStandardErrorFile(QProcess::nullDevice());
    if (!program.startDetached()) {
        m_banner->show(Tone::Error, HomeText::tr("The file was not served"), program.errorString());
        return;
    }
    m_banner->dismiss();
    setBusy(true);
    showStep({{"step", "interface"}});
    auto* watch = new QObject(this);
    connect(&m_client, &api::Client::stateChanged, watch, [this, watch, source](const QString& topic) {
        if (topic != QLatin1String("interfaces"))
            return;
        const auto& items = m_client.items("interfaces");
        for (const auto& item : items) {
            const auto state = stringOr(item, "state");
            if (textField(item, "source") != source || (state != "ready" && state != "failed"))
                continue;
            disconnect(&m_client, nullptr, watch, nullptr);
            watch->deleteLater();
            setBusy(false);
            if (state == "failed")
                return showFailure(
                    Error{"example.interface", stringOr(objectOr(item, "error"), "message", state)});
            Q_EMIT made(m_folder);
            Q_EMIT served(firstFunction(stringOr(item, "id")));
            return;
        }
    });
    QTimer::singleShot(servePatienceMs, watch, [this, watch] {
        watch->deleteLater();
        setBusy(false);
        m_banner->show(Tone::Error, HomeText::tr("The file was not served"),
            HomeText::tr("See what it says in a terminal: %1").arg(serveCommand(m_folder)));
    });
}

} // namespace gb::ui
