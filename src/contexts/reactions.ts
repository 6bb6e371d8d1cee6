import type { AnyReaction } from '../platform/kernel/reaction.ts';
import { whenEnrollmentTokensIssuedRaiseAlert } from './alerts/reactions/when-enrollment-tokens-issued-raise-alert.ts';
import { whenAccountControlChangesRaiseAlert } from './alerts/reactions/when-account-control-changes-raise-alert.ts';
import { whenDirectorySyncHeldRaiseAlert } from './alerts/reactions/when-directory-sync-held-raise-alert.ts';
import { whenDirectorySourceDeletedReleasePeople } from './directory-sources/reactions/when-directory-source-deleted-release-people.ts';
import { whenExtensionRolloutHaltedRaiseAlert } from './alerts/reactions/when-extension-rollout-halted-raise-alert.ts';
import { whenSomethingIsFoundRaiseAlert } from './alerts/reactions/when-something-is-found-raise-alert.ts';
import { whenCanaryCookieSeenCountTrigger } from './countermeasures/reactions/when-canary-cookie-seen-count-trigger.ts';
import { whenTelemetryRecordedDetectReuse } from './credentials/reactions/when-telemetry-recorded-detect-reuse.ts';
import { whenPersonLeavesEndMemberships } from './groups/reactions/when-person-leaves-end-memberships.ts';
import { whenWipeCompletedEndDevice } from './devices/reactions/when-wipe-completed-end-device.ts';
import { whenDeviceEnrolledCreatePlaceholder } from './devices/reactions/when-device-enrolled-create-placeholder.ts';
import { whenAlertChangesPlanWebhook } from './notifications/reactions/when-alert-changes-plan-webhook.ts';
import { whenWebhookReplayStartedPlanIt } from './notifications/reactions/when-webhook-replay-started-plan-it.ts';
import { whenNotificationPlannedDeliver } from './notifications/reactions/when-notification-planned-deliver.ts';
import { whenScimClientDeletedReleasePeople } from './scim/reactions/when-scim-client-deleted-release-people.ts';
import { whenExtensionsReportedJudgeThem } from './extensions/reactions/when-extensions-reported-judge-them.ts';
import { whenPersonLeavesForgetScreenshots } from './screenshots/reactions/when-person-leaves-forget-screenshots.ts';
import { whenEmployeeDeletedRevokeDevices } from './employees/reactions/when-employee-deleted-revoke-devices.ts';
import { whenPersonLeavesOffboardThem } from './employees/reactions/when-person-leaves-offboard-them.ts';
import { whenPersonErasedForgetTelemetry } from './employees/reactions/when-person-erased-forget-telemetry.ts';
import { whenAlertChangesPlanEmails } from './notifications/reactions/when-alert-changes-plan-emails.ts';
import { whenAlertIsRaisedPlanPushes } from './notifications/reactions/when-alert-is-raised-plan-pushes.ts';
import { whenAlertIsTriagedEndPages } from './on-call/reactions/when-alert-is-triaged-end-pages.ts';
import { whenPageCallsNotify } from './on-call/reactions/when-page-calls-notify.ts';
import { whenAdminDeletedEndMobileDevices } from './mobile/reactions/when-admin-deleted-end-mobile-devices.ts';
import { whenErasureRequestedCarryItOut } from './employees/reactions/when-erasure-requested-carry-it-out.ts';
import { whenUpdateDownloadBegunFetchIt } from './updates/reactions/when-update-download-begun-fetch-it.ts';
import { whenUpdateBegunRunIt } from './updates/reactions/when-update-begun-run-it.ts';

/** All reactions of the application. */
export const reactions: readonly AnyReaction[] = [
  whenTelemetryRecordedDetectReuse,
  whenExtensionsReportedJudgeThem,
  whenSomethingIsFoundRaiseAlert,
  whenCanaryCookieSeenCountTrigger,
  whenWipeCompletedEndDevice,
  whenDeviceEnrolledCreatePlaceholder,
  whenEmployeeDeletedRevokeDevices,
  whenPersonLeavesOffboardThem,
  whenPersonLeavesEndMemberships,
  whenErasureRequestedCarryItOut,
  whenPersonLeavesForgetScreenshots,
  whenAccountControlChangesRaiseAlert,
  whenEnrollmentTokensIssuedRaiseAlert,
  whenDirectorySyncHeldRaiseAlert,
  whenDirectorySourceDeletedReleasePeople,
  whenScimClientDeletedReleasePeople,
  whenAdminDeletedEndMobileDevices,
  whenAlertChangesPlanEmails,
  whenAlertIsRaisedPlanPushes,
  whenAlertIsTriagedEndPages,
  whenPageCallsNotify,
  whenPersonErasedForgetTelemetry,
  whenAlertChangesPlanWebhook,
  whenNotificationPlannedDeliver,
  whenUpdateBegunRunIt,
  whenUpdateDownloadBegunFetchIt,
  whenExtensionRolloutHaltedRaiseAlert,
  whenWebhookReplayStartedPlanIt,
];
