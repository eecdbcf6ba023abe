// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include <QAbstractButton>
#include <QApplication>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeWidget>
#include <QWheelEvent>

#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/terminalview.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/sandboxes/consoletab.h>
#include <widgets/pages/sandboxes/filestab.h>
#include <widgets/pages/sandboxes/planpanel.h>
#include <widgets/pages/sandboxes/runningview.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/sandboxform.h>
#include <widgets/pages/sandboxes/steprow.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

// A person at the real window, with the real daemon and provider behind it: from nothing to a sandbox that is
// used and stopped, once without a mouse and once without a key that is not text. Widgets are looked up,
// never told anything.
class SandboxByHandTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void init();
    void cleanup();
    void fromNothingToStopped_data();
    void fromNothingToStopped();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 60'000); }
    SandboxesPage* page() const { return qobject_cast<SandboxesPage*>(m_window->currentPage()); }
    QWidget* named(const QString& name) const;
    QAbstractButton* button(const QString& text) const;
    bool terminalShows(const std::string& text) const;

    // The hand: how a widget is come to, a button pressed, a file dialog answered.
    bool reach(QWidget* widget);
    bool tabTo(const QWidget* widget);
    bool click(QWidget* widget, QPoint at = {});
    bool press(QAbstractButton* button);
    bool fill(const QString& field, const QString& text);
    bool showTab(int index);
    bool chooseFile(const QString& name);
    void answerDialog(const QString& path);
    static void bringIntoView(const QWidget* widget);

    bool createsExperiment();
    bool fillsTheForm();
    bool startsAndWatches();
    bool usesTheConsole();
    bool usesTheFiles();
    bool carriesFiles();
    bool stops();

    QTemporaryDir m_folder;
    QString m_name;
    bool m_mouse = false;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<MainWindow> m_window;
};

// A step that fails says where.
#define GB_STEP(condition)                                                                                   \
    do {                                                                                                     \
        if (!QTest::qVerify(static_cast<bool>(condition), #condition, "", __FILE__, __LINE__))               \
            return false;                                                                                    \
    } while (false)

void SandboxByHandTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_client->open();
    QVERIFY(waitFor([this] { return m_client->state() == api::Client::State::Connected; }));
}

// Each hand begins with a window of its own.
void SandboxByHandTest::init()
{
    m_window = std::make_unique<MainWindow>(*m_client);
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void SandboxByHandTest::cleanup()
{
    m_window.reset();
}

void SandboxByHandTest::cleanupTestCase()
{
    test::endLive(m_client);
}

QWidget* SandboxByHandTest::named(const QString& name) const
{
    for (auto* widget : m_window->findChildren<QWidget*>())
        if (widget->accessibleName() == name && widget->isVisible())
            return widget;
    return nullptr;
}

QAbstractButton* SandboxByHandTest::button(const QString& text) const
{
    for (auto* each : m_window->findChildren<QAbstractButton*>())
        if (each->text() == text && each->isVisible())
            return each;
    return nullptr;
}

bool SandboxByHandTest::terminalShows(const std::string& text) const
{
    const auto& screen = page()->running()->tab<ConsoleTab>()->terminal()->screen();
    for (int i = 0; i < screen.lineCount(); ++i)
        if (screen.text(i).ends_with(text))
            return true;
    return false;
}

bool SandboxByHandTest::tabTo(const QWidget* widget)
{
    const auto* wanted = widget->focusProxy() ? widget->focusProxy() : widget;
    const bool back = qobject_cast<QPlainTextEdit*>(QApplication::focusWidget()) != nullptr;
    for (int i = 0; i < 400; ++i) {
        if (QApplication::focusWidget() == wanted)
            return true;
        auto* now = QApplication::focusWidget() ? QApplication::focusWidget() : m_window.get();
        // Tab belongs to the shell, which Ctrl+Tab leaves, and to a text, which is left backwards.
        if (back)
            QTest::keyClick(now, Qt::Key_Backtab, Qt::ShiftModifier);
        else
            QTest::keyClick(
                now, Qt::Key_Tab, qobject_cast<TerminalView*>(now) ? Qt::ControlModifier : Qt::NoModifier);
    }
    qWarning("Tab does not reach %s \"%s\"", widget->metaObject()->className(),
        qPrintable(widget->accessibleName()));
    return false;
}

// Turns the wheel until the widget can be seen.
void SandboxByHandTest::bringIntoView(const QWidget* widget)
{
    QScrollArea* area = nullptr;
    for (auto* parent = widget->parentWidget(); parent && !area; parent = parent->parentWidget())
        area = qobject_cast<QScrollArea*>(parent);
    if (!area)
        return;
    auto* viewport = area->viewport();
    for (int i = 0; i < 200; ++i) {
        const auto top = widget->mapTo(viewport, QPoint()).y();
        if (top >= 0 && top + widget->height() <= viewport->height())
            return;
        const QPoint turn(0, top < 0 ? 120 : -120);
        const QPointF at(2, 2);
        QWheelEvent wheel(
            at, viewport->mapToGlobal(at), {}, turn, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(viewport, &wheel);
    }
}

bool SandboxByHandTest::click(QWidget* widget, QPoint at)
{
    bringIntoView(widget);
    const auto place = at.isNull() ? widget->rect().center() : at;
    auto* window = widget->window();
    auto* target = window->childAt(widget->mapTo(window, place));
    if (!target || (target != widget && !widget->isAncestorOf(target))) {
        qWarning("%s \"%s\" is not where the mouse is", widget->metaObject()->className(),
            qPrintable(widget->accessibleName()));
        return false;
    }
    QTest::mouseClick(target, Qt::LeftButton, Qt::NoModifier, target->mapFrom(widget, place));
    return true;
}

bool SandboxByHandTest::reach(QWidget* widget)
{
    // After a dialog a window manager, which this platform has none of, makes the window active again.
    m_window->activateWindow();
    if (!QTest::qWaitForWindowActive(m_window.get()))
        return false;
    return widget && (m_mouse ? click(widget) : tabTo(widget));
}

bool SandboxByHandTest::press(QAbstractButton* wanted)
{
    if (!wanted || !waitFor([wanted] { return wanted->isEnabled(); }) || !reach(wanted))
        return false;
    if (!m_mouse)
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
    return true;
}

bool SandboxByHandTest::fill(const QString& field, const QString& text)
{
    auto* widget = named(field);
    if (!reach(widget))
        return false;
    if (m_mouse)
        QTest::mouseDClick(QApplication::focusWidget(), Qt::LeftButton);
    QTest::keySequence(QApplication::focusWidget(), QKeySequence::SelectAll);
    QTest::keyClicks(QApplication::focusWidget(), text);
    return true;
}

bool SandboxByHandTest::showTab(int index)
{
    QTabBar* bar = nullptr;
    for (auto* each : page()->running()->findChildren<QTabBar*>())
        if (each->isVisible())
            bar = each;
    if (!bar)
        return false;
    if (m_mouse)
        return click(bar, bar->tabRect(index).center()) && bar->currentIndex() == index;
    while (bar->currentIndex() != index) {
        if (!tabTo(bar))
            return false;
        QTest::keyClick(bar, bar->currentIndex() < index ? Qt::Key_Right : Qt::Key_Left);
    }
    return true;
}

// The next file dialog gets this path, by keys for either hand: on a desktop it is not ours.
void SandboxByHandTest::answerDialog(const QString& path)
{
    auto* poll = new QTimer(this);
    connect(poll, &QTimer::timeout, this, [poll, path, typed = false]() mutable {
        // What it did not find it says in a box of its own: typed again, it does.
        if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
            typed = false;
            return QTest::keyClick(box, Qt::Key_Escape);
        }
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog || !dialog->isVisible()) {
            if (typed)
                poll->deleteLater();
            return;
        }
        auto* line = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        if (!std::exchange(typed, true) || line->text() != path) {
            // Its proposals open whenever a folder has been read, and take a key or a click for themselves.
            line->setCompleter(nullptr);
            QTest::keySequence(line, QKeySequence::SelectAll);
            QTest::keyClicks(line, path);
        }
        for (auto* each : dialog->findChildren<QPushButton*>()) {
            if (!each->isVisible() || !each->isDefault())
                continue;
            typed = each->isEnabled(); // what is typed while a folder is read may be passed over
            return QTest::keyClick(each, Qt::Key_Space);
        }
    });
    poll->start(20);
}

bool SandboxByHandTest::createsExperiment()
{
    answerDialog(m_folder.filePath(m_name));
    if (m_mouse) {
        // The click comes back when the menu is gone.
        auto* poll = new QTimer(this);
        connect(poll, &QTimer::timeout, this, [poll] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu || !menu->isVisible())
                return;
            poll->stop();
            poll->deleteLater();
            for (auto* action : menu->actions())
                if (action->text() == QStringLiteral("New experiment…"))
                    return QTest::mouseClick(
                        menu, Qt::LeftButton, Qt::NoModifier, menu->actionGeometry(action).center());
        });
        poll->start(20);
        GB_STEP(click(m_window->findChild<QMenu*>()->parentWidget()));
    } else {
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
    }
    GB_STEP(waitFor([this] { return m_window->windowTitle().contains(m_name) && page(); }));
    GB_STEP(QFile::exists(m_folder.filePath(m_name + QStringLiteral("/experiment.toml"))));
    GB_STEP(waitFor([this] { return page()->settled(); }));
    return true;
}

bool SandboxByHandTest::fillsTheForm()
{
    auto* form = page()->form()->form();
    GB_STEP(fill(QStringLiteral("Name"), m_name));
    GB_STEP(fill(QStringLiteral("Python from"), QStringLiteral("/usr/bin/python3")));
    GB_STEP(fill(QStringLiteral("Ends after"), QStringLiteral("soon")));
    GB_STEP(form->row("timeout")->hasError());
    GB_STEP(form->row("timeout")->problemText().contains(QStringLiteral("timeout"))
        || !form->row("timeout")->problemText().isEmpty());
    GB_STEP(!button(QStringLiteral("Start"))->isEnabled());
    // Beside Start stands what is in its way, and leads to it.
    GB_STEP(reach(named(QStringLiteral("Name"))));
    if (m_mouse)
        GB_STEP(press(button(QStringLiteral("1 problem(s)"))));
    else
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return, Qt::ControlModifier);
    GB_STEP(form->row("timeout")->isAncestorOf(QApplication::focusWidget()));
    test::picture(*m_window, QStringLiteral("byhand-mistake"));
    GB_STEP(fill(QStringLiteral("Ends after"), QStringLiteral("20 min")));
    GB_STEP(!form->row("timeout")->hasError());
    GB_STEP(waitFor([this] { return page()->planPanel()->phase() == PlanPanel::Phase::Planned; }));
    return true;
}

bool SandboxByHandTest::startsAndWatches()
{
    QSet<int> seen;
    if (m_mouse)
        GB_STEP(press(button(QStringLiteral("Start"))));
    else
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return, Qt::ControlModifier);
    GB_STEP(waitFor([this, &seen] {
        for (const auto* step : page()->planPanel()->findChildren<StepRow*>())
            seen.insert(static_cast<int>(step->state()));
        return page()->running()->isVisible() || page()->planPanel()->phase() == PlanPanel::Phase::Failed;
    }));
    GB_STEP(page()->running()->isVisible());
    GB_STEP(seen.contains(static_cast<int>(StepRow::State::Running)));
    return true;
}

bool SandboxByHandTest::usesTheConsole()
{
    GB_STEP(showTab(1));
    auto* console = page()->running()->tab<ConsoleTab>();
    GB_STEP(waitFor([console] { return console->runs(); }));
    GB_STEP(reach(console->terminal()));
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("echo $((6*7)) | tee out.txt"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    GB_STEP(waitFor([this] { return terminalShows("42"); }));
    test::picture(*m_window, QStringLiteral("byhand-console"));
    return true;
}

bool SandboxByHandTest::chooseFile(const QString& name)
{
    auto* list = page()->running()->tab<FilesTab>()->list();
    const auto item = [&] { return list->findItems(name, Qt::MatchExactly).value(0); };
    GB_STEP(waitFor([&] { return item() != nullptr; }));
    if (m_mouse)
        return click(list->viewport(), list->visualItemRect(item()).center());
    GB_STEP(reach(list));
    QTest::keyClick(list, Qt::Key_Home);
    for (int i = 0; i < list->topLevelItemCount() && list->currentItem() != item(); ++i)
        QTest::keyClick(list, Qt::Key_Down);
    return list->currentItem() == item();
}

bool SandboxByHandTest::usesTheFiles()
{
    GB_STEP(showTab(2));
    GB_STEP(chooseFile(QStringLiteral("out.txt")));
    GB_STEP(press(button(QStringLiteral("Edit"))));
    auto* editor = page()->running()->tab<FilesTab>()->editor();
    GB_STEP(waitFor([editor] { return editor->isVisible(); }));
    GB_STEP(editor->toPlainText() == QStringLiteral("42\n"));
    if (m_mouse)
        GB_STEP(click(editor->viewport(), QPoint(2, 2)));
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("seen "));
    if (m_mouse)
        GB_STEP(press(button(QStringLiteral("Save in the sandbox"))));
    else
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_S, Qt::ControlModifier);
    GB_STEP(waitFor([editor] { return !editor->document()->isModified(); }));
    GB_STEP(press(button(QStringLiteral("Back"))));
    return true;
}

bool SandboxByHandTest::carriesFiles()
{
    auto* list = page()->running()->tab<FilesTab>()->list();
    const auto in = m_name + QStringLiteral(".bin");
    QFile mine(m_folder.filePath(in));
    GB_STEP(mine.open(QIODevice::WriteOnly));
    const QByteArray bytes(700'000, 'z'); // more than one piece
    GB_STEP(mine.write(bytes) == bytes.size());
    mine.close();
    answerDialog(mine.fileName());
    GB_STEP(press(button(QStringLiteral("Upload…"))));
    GB_STEP(waitFor([list, &in] { return !list->findItems(in, Qt::MatchExactly).isEmpty(); }));
    // And out again, by another name, with what the console wrote.
    for (const auto& [name, contents] :
        {std::pair(in, bytes), std::pair(QStringLiteral("out.txt"), QByteArray("seen 42\n"))}) {
        GB_STEP(chooseFile(name));
        QFile got(m_folder.filePath(QStringLiteral("got-") + m_name + name));
        answerDialog(got.fileName());
        GB_STEP(press(button(QStringLiteral("Download…"))));
        GB_STEP(waitFor([&got, size = contents.size()] { return got.size() == size; }));
        GB_STEP(got.open(QIODevice::ReadOnly));
        GB_STEP(got.readAll() == contents);
    }
    test::picture(*m_window, QStringLiteral("byhand-files"));
    return true;
}

bool SandboxByHandTest::stops()
{
    GB_STEP(press(button(QStringLiteral("Stop"))));
    GB_STEP(waitFor([this] { return button(QStringLiteral("Delete its files")) != nullptr; }));
    GB_STEP(press(button(QStringLiteral("Delete its files"))));
    GB_STEP(waitFor([this] { return !page()->running()->isVisible(); }));
    return true;
}

void SandboxByHandTest::fromNothingToStopped_data()
{
    QTest::addColumn<bool>("mouse");
    QTest::newRow("keyboard") << false;
    QTest::newRow("mouse") << true;
}

void SandboxByHandTest::fromNothingToStopped()
{
    QFETCH(bool, mouse);
    m_mouse = mouse;
    m_name = mouse ? QStringLiteral("with-the-mouse") : QStringLiteral("with-the-keyboard");
    QVERIFY(createsExperiment());
    QVERIFY(fillsTheForm());
    QVERIFY(startsAndWatches());
    QVERIFY(usesTheConsole());
    QVERIFY(usesTheFiles());
    QVERIFY(carriesFiles());
    QVERIFY(stops());
}

QTEST_MAIN(SandboxByHandTest)
#include "tst_sandboxbyhand.moc"
