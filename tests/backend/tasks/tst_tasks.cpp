// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QSemaphore>
#include <QSignalSpy>
#include <QTest>
#include <QThreadPool>

#include <backend/tasks/threadjob.h>

using namespace gb;

namespace {

class StepJob final : public Job
{
public:
    StepJob() : Job("step", "Steps") { }
    using Job::finish;
    using Job::setProgress;
    bool aborted = false;

protected:
    void run() override { }
    void abort() override { aborted = true; }
};

} // namespace

class TestTasks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aJobHasOneOutcome()
    {
        StepJob job;
        QSignalSpy finished(&job, &Job::finished);
        QCOMPARE(stringOr(job.toJson(), "state"), std::string("queued"));
        job.start();
        job.setProgress({2, 4, "steps", 1.5, {}});
        const Json running = job.toJson();
        QCOMPARE(
            running["progress"].dump(), std::string(R"({"done":2,"unit":"steps","total":4,"rate":1.5})"));
        QVERIFY(boolOr(running, "cancellable"));
        job.finish(Json{{"files", 3}});
        job.finish(fail("late", "too late"));
        QCOMPARE(finished.count(), 1);
        QVERIFY(job.state() == Job::State::Done);
        QCOMPARE(job.outcome()->dump(), std::string(R"({"files":3})"));
        QVERIFY(!boolOr(job.toJson(), "cancellable"));
    }

    void failureIsInTheItem()
    {
        StepJob job;
        job.start();
        job.finish(fail("io.disk_full", "no room"));
        QCOMPARE(stringOr(job.toJson(), "state"), std::string("failed"));
        QCOMPARE(stringOr(objectOr(job.toJson(), "error"), "code"), std::string("io.disk_full"));
    }

    void cancelEndsAQueuedJobAtOnceAndARunningOneWhenItCan()
    {
        StepJob queued;
        QSignalSpy queuedFinished(&queued, &Job::finished);
        queued.cancel();
        QCOMPARE(queuedFinished.count(), 1);
        QVERIFY(!queued.aborted);

        StepJob running;
        QSignalSpy runningFinished(&running, &Job::finished);
        running.start();
        running.cancel();
        QVERIFY(running.aborted);
        QCOMPARE(runningFinished.count(), 0);
        running.finish(Json::object()); // it had just got there
        QVERIFY(running.state() == Job::State::Cancelled);
        QCOMPARE(running.outcome().error().code, std::string("cancelled"));
    }

    void aThreadJobReportsOnItsOwnersThread()
    {
        ThreadJob job("count", "Counting", [](ThreadJob::Control& control) -> Result<Json> {
            for (int i = 1; i <= 3; ++i)
                control.setProgress({i, 3, "steps", {}, {}});
            control.setMessage("nearly");
            return Json{{"count", 3}};
        });
        QSignalSpy finished(&job, &Job::finished);
        job.start();
        QVERIFY(finished.wait());
        QCOMPARE(job.progress().done, std::int64_t{3});
        QCOMPARE(job.message(), std::string("nearly"));
        QCOMPARE(job.outcome()->dump(), std::string(R"({"count":3})"));
    }

    void aThreadJobMayGoWhileItRuns()
    {
        QSemaphore release;
        bool sawCancel = false;
        {
            ThreadJob job("wait", "Waiting", [&](ThreadJob::Control& control) -> Result<Json> {
                release.acquire();
                sawCancel = control.isCancelled();
                control.setMessage("nobody hears this");
                return Json::object();
            });
            job.start();
        }
        release.release();
        QVERIFY(QThreadPool::globalInstance()->waitForDone(30'000));
        QVERIFY(sawCancel);
    }
};

QTEST_GUILESS_MAIN(TestTasks)
#include "tst_tasks.moc"
