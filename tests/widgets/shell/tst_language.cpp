// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTranslator>

#include <backend/domain/sandboxspec.h>
#include <tests/support/picture.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/shell/language.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

namespace {

// Writes every text in brackets and 40 % longer, as German would be.
class PseudoTranslator final : public QTranslator
{
public:
    using QTranslator::QTranslator;

    bool isEmpty() const override { return false; }
    QString translate(const char* context, const char* source, const char*, int) const override
    {
        m_contexts.insert(QString::fromLatin1(context));
        const auto text = QString::fromUtf8(source);
        const auto more = QStringLiteral("~~~~ ").repeated(20).left(qMax<qsizetype>(1, text.size() * 2 / 5));
        return QLatin1Char('[') + text + more.trimmed() + QLatin1Char(']');
    }
    QSet<QString> contexts() const { return m_contexts; }

private:
    mutable QSet<QString> m_contexts;
};

QString shownText(const QWidget* widget)
{
    if (const auto* elided = qobject_cast<const ElidedLabel*>(widget))
        return elided->fullText();
    if (const auto* label = qobject_cast<const QLabel*>(widget))
        return label->text();
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
        return button->text();
    if (const auto* combo = qobject_cast<const QComboBox*>(widget))
        return combo->currentText();
    if (const auto* line = qobject_cast<const QLineEdit*>(widget))
        return line->placeholderText();
    return {};
}

bool isCutOff(const QWidget* widget)
{
    const auto* label = qobject_cast<const QLabel*>(widget);
    if (label && label->wordWrap())
        return label->heightForWidth(label->width()) > label->height() + 1;
    if (qobject_cast<const ElidedLabel*>(widget) || !(label || qobject_cast<const QAbstractButton*>(widget)))
        return false;
    return !shownText(widget).isEmpty() && widget->sizeHint().width() > widget->width() + 1;
}

// What a person would complain about; `data` are texts that are not the window's own, and commands stay as
// they are typed.
QStringList complaints(const QWidget& window, const QSet<QString>& data)
{
    static const QRegularExpression letters(QStringLiteral("[A-Za-z]{2}"));
    QStringList found;
    for (const auto* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible())
            continue;
        for (const auto& text : {shownText(widget), widget->toolTip(), widget->accessibleName()})
            if (text.contains(letters) && !text.contains(QLatin1Char('[')) && !data.contains(text)
                && !text.startsWith(QStringLiteral("glovebox ")))
                found += QStringLiteral("not translated: ") + text;
        if (isCutOff(widget))
            found += QStringLiteral("cut off: ") + shownText(widget);
    }
    return found;
}

// What the window shows and did not write.
QSet<QString> otherTexts()
{
    QSet<QString> texts;
    for (const auto& package : SandboxSpec().notebookPackages)
        texts += QString::fromStdString(package);
    const QDir folder(QStringLiteral(":/glovebox/examples"));
    for (const auto& name : folder.entryList(QDir::Dirs)) {
        QFile file(folder.filePath(name + QStringLiteral("/example.json")));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const auto about = parseJson(file.readAll().toStdString());
        for (const auto* key : {"title", "shows"})
            texts += QString::fromStdString(stringOr(*about, key));
    }
    return texts;
}

} // namespace

class LanguageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void theCheckFindsWhatIsWrong();
    void everyTextIsTranslatedAndFits_data();
    void everyTextIsTranslatedAndFits();
    void englishCounts();

private:
    api::Client::Options options() const
    {
        return {fs::path(m_folder.path().toStdString()), "window", false, false, {}};
    }
    QTemporaryDir m_folder;
};

void LanguageTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
}

void LanguageTest::theCheckFindsWhatIsWrong()
{
    QWidget window;
    window.resize(400, 100);
    auto* label = new QLabel(QStringLiteral("Nobody translated this"), &window);
    label->resize(20, 20);
    new QLabel(QStringLiteral("12 345"), &window);
    window.show();
    QCOMPARE(complaints(window, {}),
        QStringList({QStringLiteral("not translated: Nobody translated this"),
            QStringLiteral("cut off: Nobody translated this")}));
}

void LanguageTest::everyTextIsTranslatedAndFits_data()
{
    QTest::addColumn<QSize>("size");
    QTest::newRow("small") << QSize(1280, 800);
    QTest::newRow("large") << QSize(1920, 1200);
}

void LanguageTest::everyTextIsTranslatedAndFits()
{
    QFETCH(QSize, size);
    PseudoTranslator pseudo;
    QVERIFY(QCoreApplication::installTranslator(&pseudo));
    api::Client client(options());
    MainWindow window(client);
    window.resize(size);
    window.show();
    for (const auto* id : {"home", "sandbox", "models", "inspector", "settings", "snapshots"}) {
        QVERIFY(window.showPage(QLatin1String(id)));
        QTest::qWait(1);
        gb::test::picture(window, QStringLiteral("pseudo-%1-%2").arg(QLatin1String(id)).arg(size.width()));
        const auto found = complaints(window, otherTexts());
        QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
    }
    // One context per room, not one per class.
    for (const auto* room :
        {"home", "sandboxes", "models", "inspector", "settings", "forms", "shell", "controls"})
        QVERIFY2(pseudo.contexts().contains(QLatin1String(room)), room);
    for (const auto& context : pseudo.contexts())
        for (const auto* name : {"Home", "Settings", "MainWindow", "Tray", "HeaderBar", "Machine", "Alive"})
            QVERIFY2(
                !context.startsWith(QStringLiteral("gb::ui::") + QLatin1String(name)), qPrintable(context));
    QCoreApplication::removeTranslator(&pseudo);
}

void LanguageTest::englishCounts()
{
    QVERIFY(!installLanguage(QStringLiteral("xx")));
    QVERIFY(installLanguage(QStringLiteral("en")));
    api::Client client(options());
    MainWindow window(client);
    window.show();
    QStringList minutes;
    for (const auto* label : window.currentPage()->findChildren<QLabel*>())
        if (label->text().contains(QStringLiteral("minute")))
            minutes += label->text();
    QVERIFY(!minutes.isEmpty());
    for (const auto& text : minutes)
        QVERIFY2(!text.contains(QLatin1Char('(')), qPrintable(text));
}

QTEST_MAIN(LanguageTest)
#include "tst_language.moc"
