// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "doctor.h"

namespace gb {

Check checkDisplay(const DoctorOptions& options);
Check checkWebEngine(const DoctorOptions& options);
Check checkKeyring(const DoctorOptions& options);

Check checkUserNamespaces(const DoctorOptions& options);
Check checkDistribution(const DoctorOptions& options);
Check checkSubordinateIds(const DoctorOptions& options);
Check checkOverlay(const DoctorOptions& options);
Check checkBubblewrap(const DoctorOptions& options);
Check checkIsolation(const DoctorOptions& options);
Check checkImageBuilder(const DoctorOptions& options);
Check checkCgroups(const DoctorOptions& options);

Check checkGpu(const DoctorOptions& options);
Check checkDisk(const DoctorOptions& options);
Check checkPorts(const DoctorOptions& options);
Check checkPythons(const DoctorOptions& options);
Check checkAgents(const DoctorOptions& options);

Check checkHub(const DoctorOptions& options);
Check checkToken(const DoctorOptions& options);

} // namespace gb
