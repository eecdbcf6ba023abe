// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>
#include <QWidget>

#include <widgets/controls/keyvaluelist.h>

#include "functionlist.h"

class QAction;
class QComboBox;
class QLabel;
class QPlainTextEdit;
class QTabWidget;

namespace gb::ui {

class ArgumentForm;
class Banner;
class ElidedLabel;
class LogView;
class PresetButton;
class ProgressRow;
class ResultView;
class SourcePanel;
class StatePill;
class TimingBar;

// The middle of the inspector: arguments above, what came of the call below. It shows one call at a time;
// those that still run go on and are found in the history.
class CallPanel final : public QWidget
{
    Q_OBJECT

public:
    explicit CallPanel(api::Client& client, QWidget* parent = nullptr);

    void setFunction(const FunctionList::Function& function);
    void setArguments(const Json& kwargs);
    // Fetches the record and shows its arguments and what came of it.
    void showCall(const QString& call, const FunctionList::Function* function);
    QString shownCall() const { return QString::fromStdString(m_call); }

    QAction* runAction() const { return m_run; }
    QAction* cancelAction() const { return m_cancel; }
    QAction* jsonAction() const { return m_json; }
    QList<QAction*> copyActions() const { return m_copies; }
    QList<QAction*> presetActions() const;
    QAction* wideAction() const { return m_wide; }
    QAction* sourceAction() const { return m_toSource; }
    SourcePanel* source() const { return m_source; }
    bool settled() const { return !m_loading; }
    void find();
    void focusArguments();

Q_SIGNALS:
    void callStarted(const QString& call);
    void callEnded(const QString& call);

private:
    void createActions();
    QWidget* createUpper();
    QWidget* createLower();
    void connectPresets();
    void run();
    void cancel();
    enum class CopyForm { Command, Curl, Python, Mcp };
    void copyAs(CopyForm form);
    void askStatistics();
    void showSeen(const QString& form);
    QWidget* createSeen();
    void onEvent(const Json& event, const QByteArray& attachment);
    void onAnswer(const std::string& call, Result<api::Answer> answer);
    void readCall();
    void followCall();
    void endRunning();
    void showNotCalled();
    void showRunning();
    void showProgress(const Json& progress);
    void showUnanswered(const QString& title, const Error& error);
    void showRecord(const Json& record, const std::string& result);
    void showCut(const Json& record);
    void setDetails(QList<KeyValueList::Row> rows);
    void showError(const Json& record);
    // The line in the interface file, in the editor; 0: where the function begins.
    void showSource(int line);
    void showItems();
    void beginCall(const std::string& call);
    void showResultTab();
    void setRunning(bool running);

    api::Client& m_client;
    std::string m_interface;
    std::string m_functionName;
    int m_functionLine = 1;
    Json m_parameters = Json::array();
    std::string m_call; // the one shown
    bool m_running = false;
    bool m_loading = false;
    bool m_forced = false;
    bool m_followed = false; // it runs for somebody else, or was begun before it was looked at
    std::int64_t m_since = 0; // when it began to run
    std::string m_items; // the streamed items as JSON text, without its end
    QTimer m_itemsSoon;
    QTimer m_runningSoon;
    QTimer m_statisticsSoon;
    QList<KeyValueList::Row> m_detailRows;

    QAction* m_run = nullptr;
    QAction* m_cancel = nullptr;
    QAction* m_json = nullptr;
    QList<QAction*> m_copies;
    QAction* m_wide = nullptr;
    QAction* m_toSource = nullptr;
    QWidget* m_upper = nullptr;
    ElidedLabel* m_name = nullptr;
    QLabel* m_signature = nullptr;
    QLabel* m_doc = nullptr;
    QLabel* m_statistics = nullptr;
    ArgumentForm* m_form = nullptr;
    PresetButton* m_presets = nullptr;
    StatePill* m_state = nullptr;
    TimingBar* m_timing = nullptr;
    ProgressRow* m_progress = nullptr;
    Banner* m_banner = nullptr;
    QTabWidget* m_tabs = nullptr;
    ResultView* m_result = nullptr;
    LogView* m_output = nullptr;
    KeyValueList* m_details = nullptr;
    QLabel* m_noDetails = nullptr;
    QComboBox* m_seenForm = nullptr;
    QLabel* m_seenTokens = nullptr;
    QPlainTextEdit* m_seen = nullptr;
    SourcePanel* m_source = nullptr;
};

} // namespace gb::ui
