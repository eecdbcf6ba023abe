// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/doctor/doctor.h>
#include <backend/tasks/threadjob.h>

#include "dispatcher.h"
#include "joblist.h"
#include "services.h"

namespace gb::service {

void bindDoctorMethods(Dispatcher* dispatcher, const Services& services)
{
    dispatcher->binder().bind<NoParams>("doctor.run",
        [jobs = services.jobs, data = services.dataFolder](NoParams, const std::string&, Reply reply) {
            DoctorOptions options;
            options.dataFolder = data;
            options.environment = reply.connection()->environment();
            reply.finish(Result<Json>(jobs->start(std::make_unique<ThreadJob>("doctor",
                "Checking this machine",
                [options](ThreadJob::Control&) -> Result<Json> { return checksJson(runDoctor(options)); }))));
        });
}

} // namespace gb::service
