import type { AnyReaction } from '../kernel/reaction.ts';
import { whenAccountControlChangesRaiseAlert } from './alerts/when-account-control-changes-raise-alert.ts';
import { whenSomethingIsFoundRaiseAlert } from './alerts/when-something-is-found-raise-alert.ts';
import { whenCanaryCookieSeenCountTrigger } from './countermeasures/when-canary-cookie-seen-count-trigger.ts';
import { whenTelemetryRecordedDetectReuse } from './credentials/when-telemetry-recorded-detect-reuse.ts';
import { whenWipeCompletedEndDevice } from './devices/when-wipe-completed-end-device.ts';
import { whenDeviceEnrolledCreatePlaceholder } from './devices/when-device-enrolled-create-placeholder.ts';
import { whenExtensionsReportedJudgeThem } from './extensions/when-extensions-reported-judge-them.ts';
import { whenPersonLeavesForgetScreenshots } from './screenshots/when-person-leaves-forget-screenshots.ts';
import { whenEmployeeDeletedRevokeDevices } from './employees/when-employee-deleted-revoke-devices.ts';
import { whenPersonErasedForgetTelemetry } from './employees/when-person-erased-forget-telemetry.ts';
import { whenErasureRequestedCarryItOut } from './employees/when-erasure-requested-carry-it-out.ts';

/** Everything the house does by itself because something happened. */
export const reactions: readonly AnyReaction[] = [
  whenTelemetryRecordedDetectReuse,
  whenExtensionsReportedJudgeThem,
  whenSomethingIsFoundRaiseAlert,
  whenCanaryCookieSeenCountTrigger,
  whenWipeCompletedEndDevice,
  whenDeviceEnrolledCreatePlaceholder,
  whenEmployeeDeletedRevokeDevices,
  whenErasureRequestedCarryItOut,
  whenPersonLeavesForgetScreenshots,
  whenAccountControlChangesRaiseAlert,
  whenPersonErasedForgetTelemetry,
];
