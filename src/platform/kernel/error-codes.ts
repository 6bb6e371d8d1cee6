/**
 * The codes of error responses: one per cause. A code is stable: a client may branch on it, so it is never renamed or
 * reused. `kind` determines the HTTP status (`src/app/http/errors.ts`), `error` is the text if the failure has no text of
 * its own, `meaning` is for docs/reference/errors.md, which `scripts/error-codes.ts` writes.
 */
export interface ErrorCodeEntry {
  readonly kind: ErrorKind;
  /** A short, fixed, lower-case English text that is safe to show to a client. */
  readonly error: string;
  readonly meaning: string;
  /** Of kind `unavailable`: lasts until a person changes something, so a retry in seconds makes no sense. */
  readonly isLasting?: true;
}

/** Kinds that a decider, command or query may return. */
export type FailureKind =
  | 'invalid' // input that breaks a rule; names the field
  | 'unauthenticated'
  | 'forbidden'
  | 'notFound'
  | 'conflict' // duplicate, or a state that does not allow it
  | 'stale' // changed since the caller read it (`If-Match`)
  | 'tooLarge'
  | 'limited' // a budget is used up; carries seconds until it resets
  | 'unavailable';

/** Kinds that only the HTTP listeners have. */
export type TransportKind =
  | 'methodNotAllowed'
  | 'requestTimeout'
  | 'addressTooLong'
  | 'unsupportedMedia'
  | 'expectationFailed'
  | 'headersTooLarge'
  | 'unsupported'
  | 'defect';

export type ErrorKind = FailureKind | TransportKind;

const entry = <const Kind extends ErrorKind>(kind: Kind, error: string, meaning: string) =>
  ({ kind, error, meaning }) as const;
const lasting = (error: string, meaning: string) => ({ kind: 'unavailable', error, meaning, isLasting: true }) as const;

export const errorCodes = {
  // 400
  validation_failed: entry(
    'invalid',
    'validation failed',
    'The input breaks a rule. `fields` names every wrong field.',
  ),
  malformed_request: entry('invalid', 'validation failed: request: is malformed', 'The bytes are not valid HTTP.'),
  scim_invalid_filter: entry('invalid', 'the filter cannot be used', 'SCIM: `detail` says where the filter is wrong.'),
  scim_invalid_path: entry('invalid', 'the path cannot be used', 'SCIM: the path of an operation names no attribute.'),
  scim_invalid_syntax: entry('invalid', 'the message is malformed', 'SCIM: the body is not the message it should be.'),
  scim_invalid_value: entry('invalid', 'a value is wrong', 'SCIM: `detail` names the attribute.'),
  scim_no_target: entry('invalid', 'the operation has no target', 'SCIM: no value matches the path of the operation.'),
  scim_too_many: entry('invalid', 'the response would be too large', 'SCIM: ask for fewer, or exclude `members`.'),
  scim_mutability: entry('invalid', 'the attribute cannot be changed', 'SCIM: the attribute is read-only or required.'),
  scim_invalid_cursor: entry('invalid', 'the cursor is not valid', 'SCIM: begin again without a cursor.'),
  malformed_json: entry(
    'invalid',
    'validation failed: body: is not valid JSON',
    'The body is not JSON, or has a member `__proto__`.',
  ),
  secret_required_again: entry(
    'invalid',
    'validation failed',
    'An address changes, and the stored secret must not go there: send the secret again, or remove it with `null`.',
  ),
  channel_not_configured: entry(
    'invalid',
    'the channel is not configured',
    'The settings of notifications lack what the request needs; `error` names it.',
  ),
  // 401
  authentication_required: entry('unauthenticated', 'authentication required', 'No valid credential.'),
  invalid_credentials: entry('unauthenticated', 'invalid credentials', 'E-mail, password or key is wrong.'),
  invalid_code: entry('unauthenticated', 'invalid code', 'The code of the second factor is wrong or was used.'),
  invalid_token: entry('unauthenticated', 'invalid or expired token', 'The token of a sign-in step has ended.'),
  invalid_refresh_token: entry(
    'unauthenticated',
    'invalid or expired refresh token',
    'Sign in again: the refresh token is unknown, expired or was used before.',
  ),
  invalid_exchange_code: entry(
    'unauthenticated',
    'invalid or expired code',
    'The code of a single sign-on is unknown, expired or was used.',
  ),
  certificate_expired: entry('unauthenticated', 'authentication required', 'Enroll the device again.'),
  certificate_revoked: entry(
    'unauthenticated',
    'authentication required',
    'The device was revoked, wiped or deleted, or enrolled again, or a later certificate replaced this one.',
  ),
  device_suspended: entry(
    'unauthenticated',
    'authentication required',
    'The certificate works again once the user is active.',
  ),
  invalid_enrollment_token: entry(
    'unauthenticated',
    'invalid or expired enrollment token',
    'The enrollment token is unknown, expired, revoked or was used.',
  ),
  password_changed_meanwhile: entry(
    'unauthenticated',
    'the password was changed in the meantime',
    'Sign in with the new password.',
  ),
  single_sign_on_failed: entry(
    'unauthenticated',
    'single sign-on failed',
    'The identity provider or its message was refused; `error` ends with the reason.',
  ),
  logout_refused: entry(
    'unauthenticated',
    'logout refused',
    "The identity provider's logout message was refused; `error` ends with the reason.",
  ),
  // 403
  insufficient_permissions: entry('forbidden', 'insufficient permissions', 'The role does not permit it.'),
  reauthentication_required: entry(
    'forbidden',
    're-authentication required',
    'Get a token from `verify-password` and repeat the request with it in `X-ReAuth-Token`.',
  ),
  mobile_access_denied: entry(
    'forbidden',
    'mobile access denied',
    'The map of roles or the flag of the account does not allow the mobile app.',
  ),
  account_locked: entry('forbidden', 'account locked', 'Too many wrong attempts; the lock ends by itself.'),
  account_suspended: entry('forbidden', 'account suspended', 'An administrator suspended the account.'),
  temporary_password_expired: entry(
    'forbidden',
    'temporary password expired',
    'Another administrator has to reset the password again.',
  ),
  sso_required: entry('forbidden', 'sso required', 'The organization permits only single sign-on.'),
  not_set_up: entry('notFound', 'not set up yet', 'The installation has no tenant yet.'),
  setup_complete: entry('forbidden', 'setup already complete', 'The installation has its first tenant.'),
  license_expired: entry('forbidden', 'license expired', 'Install a new license.'),
  license_user_limit: entry('forbidden', 'license user limit reached', 'The license has no free seat.'),
  idempotent_role_changed: entry(
    'forbidden',
    'the role has changed since the first request with this idempotency key',
    'The stored response is not shown to another role.',
  ),
  listener_of_another_tenant: entry(
    'forbidden',
    'the listener belongs to another tenant',
    "Another tenant installed the TLS listener's certificate.",
  ),
  updates_of_the_operator: entry(
    'forbidden',
    'another tenant or the operator administers this installation',
    'All tenants share the software. The operator names the tenant that updates it in UPDATE_TENANT_ID; without it, the only tenant does.',
  ),
  tls_required: entry(
    'forbidden',
    'keys are returned over TLS only: use the https address of devices',
    'The response would contain a key. Use TLS, or send `csr`.',
  ),
  device_revoked: entry(
    'forbidden',
    'the device is revoked: an administrator has to allow it to enroll again',
    'Call `allow-reenrollment` for the device.',
  ),
  device_unconfirmed: entry(
    'forbidden',
    'an administrator must confirm the enrollment of this device first',
    'Call `confirm-enrollment` for the device.',
  ),
  insufficient_scope: entry(
    'forbidden',
    'insufficient scope',
    'The access token lacks the scope `scim:write` or `scim:read`.',
  ),
  person_erased: entry('forbidden', 'the person of this device was erased', 'Nothing more is stored about them.'),
  screenshots_off: entry('forbidden', 'screenshots are turned off', 'The monitoring settings do not allow them.'),
  address_expired: entry('forbidden', 'the address has expired', 'Request the signed address again.'),
  address_invalid: entry(
    'forbidden',
    'the address is not valid',
    'The signature of the address is wrong, or the address was revoked.',
  ),
  // 404
  not_found: entry('notFound', 'not found', 'It does not exist, or belongs to another tenant.'),
  route_not_found: entry('notFound', 'not found', 'There is no such path, or it does not have this method.'),
  employee_not_found: entry('notFound', 'user not found', 'No synchronized employee has this identity.'),
  sso_not_configured: entry('notFound', 'single sign-on is not configured', 'No enabled configuration was found.'),
  tenant_not_attached: entry(
    'notFound',
    'the tenant does not belong to the organization',
    'The organization has no such tenant.',
  ),
  // 409
  already_exists: entry('conflict', 'already exists', 'Another record has this value; `fields` names the field.'),
  limit_reached: entry('conflict', 'no more can be created', 'The tenant has as many as it may have; delete one.'),
  nothing_staged: entry('conflict', 'no update is staged', 'Upload a bundle of this version first.'),
  nothing_to_roll_back: entry(
    'conflict',
    'there is nothing to roll back',
    'No update was applied since the last rollback.',
  ),
  update_under_way: entry('conflict', 'an update is under way', 'Wait for its end; the history shows it.'),
  update_not_newer: entry(
    'conflict',
    'the version is not newer than the installed one',
    'An update never leads back to an older version; a rollback does.',
  ),
  update_feed_missing: entry(
    'conflict',
    'this installation has no update feed',
    'The operator sets UPDATE_FEED_URL. Without it, only uploads bring updates.',
  ),
  update_without_bundle: entry(
    'conflict',
    'the feed names no bundle that can be checked',
    'Upload the bundle. Downloads need address, digest and signature in the announcement, and UPDATE_PUBLIC_KEY.',
  ),
  still_named: entry(
    'conflict',
    'other records name it',
    'Take it out of the records that the response names, or delete them, first.',
  ),
  rollout_state: entry(
    'conflict',
    'the state of the rollout does not allow it',
    'Read the rollout again: another administrator or the service has changed its state.',
  ),
  rollout_overlaps: entry(
    'conflict',
    'another rollout of this browser is under way',
    'A device gets one direction: complete the other rollout or roll it back first.',
  ),
  own_account: entry('conflict', 'not possible for your own account', 'Another administrator has to do it.'),
  last_super_admin: entry('conflict', 'the last active super admin must remain', 'Make another super admin first.'),
  last_owner: entry('conflict', 'the last active owner must remain', 'Make another owner first.'),
  replay_running: entry(
    'conflict',
    'a replay is under way',
    'Wait until the messages of the other replay are planned.',
  ),
  delivery_not_failed: entry(
    'conflict',
    'the delivery has not failed',
    'Only a delivery that is exhausted or refused can be retried.',
  ),
  mfa_already_enabled: entry(
    'conflict',
    'multi-factor authentication is already enabled',
    'Disable it first to set it up again.',
  ),
  mfa_not_started: entry('conflict', 'no set-up was started', 'Start the set-up of the second factor first.'),
  mfa_restarted: entry(
    'conflict',
    'the set-up was restarted: use the newest secret',
    'A later set-up of the second factor replaced the secret.',
  ),
  sso_needed: entry(
    'conflict',
    'single sign-on is required',
    'The organization requires single sign-on, so its last enabled configuration must remain.',
  ),
  sso_enabled_elsewhere: entry(
    'conflict',
    'another configuration is enabled',
    'Disable the other configuration first.',
  ),
  account_taken: entry(
    'conflict',
    'the e-mail administers another organization',
    'One e-mail administers one organization.',
  ),
  domain_taken: entry('conflict', 'domain: another organization has proved it', 'The domain belongs to that one.'),
  tenant_taken: entry('conflict', 'the tenant belongs to another organization', 'Detach it there first.'),
  device_status: entry(
    'conflict',
    'device is in another state',
    "The device's status does not allow it; `error` names it.",
  ),
  enrollment_running: entry('conflict', 'the device is being enrolled', 'A concurrent enrollment of it succeeded.'),
  renewal_not_due: entry(
    'conflict',
    'the certificate is not due for renewal',
    'Renew it in the last part of its validity.',
  ),
  enrollment_token_used: entry('conflict', 'the token has been used', 'Revoke the device instead.'),
  alert_open: entry('conflict', 'alert is already open', 'The alert is open.'),
  alert_resolved: entry('conflict', 'alert is already resolved', 'Reopen the alert first.'),
  alert_not_resolved: entry('conflict', 'alert is not resolved', 'Resolve the alert first.'),
  alert_assigned: entry('conflict', 'alert is assigned to another admin', 'Assign it instead of claiming it.'),
  owned_by_source: entry(
    'conflict',
    'owned by a source',
    'A SCIM client or a directory source maintains this; `fields` names each field and its owner. Change it there.',
  ),
  group_managed: entry(
    'conflict',
    'the group is managed by its source',
    'A SCIM client or a directory source maintains the group, and `error` names it; change it there.',
  ),
  directory_syncing: entry(
    'conflict',
    'the directory is being synchronized',
    'Wait until the synchronization has ended.',
  ),
  directory_disabled: entry('conflict', 'the directory source is disabled', 'Enable it first.'),
  directory_awaits_confirmation: entry(
    'conflict',
    'a synchronization waits for a confirmation',
    'Confirm it, or start another one in its place.',
  ),
  directory_nothing_to_confirm: entry(
    'conflict',
    'this synchronization waits for no confirmation',
    'It was confirmed, replaced or ended; get its state.',
  ),
  erasure_not_requested: entry('conflict', 'no erasure was requested', 'Request the erasure first.'),
  overrides_overlap: entry(
    'conflict',
    'overlaps another override of the schedule',
    'Choose another time, or remove the other override first.',
  ),
  pack_upload_running: entry(
    'conflict',
    'another file of this pack is being uploaded',
    'Repeat it when that has ended.',
  ),
  pack_changed: entry(
    'conflict',
    'a signature of the pack was deleted during the import: upload the pack again',
    'Upload the pack again.',
  ),
  idempotency_key_reused: entry(
    'conflict',
    'the idempotency key belongs to another request',
    'Use a new key for another request.',
  ),
  idempotent_request_running: entry(
    'conflict',
    'the first request with this idempotency key is still being answered',
    'Repeat it after a moment.',
  ),
  idempotent_response_lost: entry(
    'conflict',
    'the first request with this idempotency key succeeded, but its response can no longer be shown',
    'Read the resource instead.',
  ),
  audit_head_moved: entry('conflict', 'another head was sealed in the meantime', 'Repeat it.'),
  command_refused: entry('conflict', 'the command cannot be carried out', 'Only on the command line of operators.'),
  // 412
  changed_meanwhile: entry(
    'stale',
    'changed in the meantime: read it again, then repeat the change',
    '`If-Match` names a state that somebody changed since.',
  ),
  // 405, 408, 413, 414, 415, 417, 431
  method_not_allowed: entry(
    'methodNotAllowed',
    'the method is not allowed',
    'SCIM and OAuth: the path has other methods; `Allow` names them.',
  ),
  request_timeout: entry('requestTimeout', 'request timeout', 'The request did not arrive completely in time.'),
  payload_too_large: entry(
    'tooLarge',
    'payload too large',
    'The request, or the event that would result, is too large.',
  ),
  file_too_long: entry('tooLarge', 'the file is too long', 'The file has too many rows or columns.'),
  address_too_long: entry('addressTooLong', 'address too long', 'The path, or a parameter in it, is too long.'),
  unsupported_media_type: entry(
    'unsupportedMedia',
    'unsupported media type',
    'The media type, the character encoding or the content coding is not accepted.',
  ),
  expectation_failed: entry('expectationFailed', 'expectation failed', 'Only `100-continue` may be expected.'),
  headers_too_large: entry('headersTooLarge', 'request headers too large', 'The headers are too large.'),
  // 429
  rate_limit_exceeded: entry('limited', 'rate limit exceeded', 'The budget of requests is used up.'),
  share_used_up: entry('limited', 'too many requests at once', "The caller's share of concurrent work is used up."),
  // 500, 503
  internal_error: entry('defect', 'internal error', 'A defect of the service. Report `requestId`.'),
  scim_not_supported: entry('unsupported', 'not supported', 'SCIM: the service provider configuration says so.'),
  service_unavailable: entry(
    'unavailable',
    'service unavailable',
    'Something that the service needs is unavailable, silent or full, or the service stops.',
  ),
  too_many_changes: entry('unavailable', 'too many changes at once, try again', 'Others changed the same record.'),
  read_side_behind: entry(
    'unavailable',
    'the read side is behind, try again',
    'What was just written cannot be shown yet.',
  ),
  audit_log_behind: entry('unavailable', 'the audit log is behind, try again', 'The read side has to catch up.'),
  name_servers_unreachable: entry('unavailable', 'the name servers cannot be reached', 'DNS did not respond.'),
  screenshot_storage_unavailable: entry(
    'unavailable',
    'screenshots cannot be stored at the moment',
    'The object storage is unavailable.',
  ),
  identity_provider_unavailable: entry(
    'unavailable',
    'the identity provider cannot be used',
    'It cannot be reached, or says that it cannot serve now.',
  ),
  bundle_storage_unavailable: entry(
    'unavailable',
    'the bundle cannot be stored now, try again',
    'The object store does not respond.',
  ),
  update_feed_unavailable: entry(
    'unavailable',
    'the update feed cannot be used',
    'The feed does not respond, or its announcement was refused; `error` ends with the reason.',
  ),
  portal_unavailable: entry('unavailable', 'service unavailable', 'The central portal cannot be reached.'),
  portal_not_configured: lasting('service unavailable', 'The installation has no central portal.'),
  certificate_authority_missing: lasting(
    'certificate service not configured',
    'The tenant has no certificate authority. Install one.',
  ),
  certificate_authority_not_valid: lasting(
    'the certificate authority is not valid at this time',
    "The authority's certificate is not yet valid, or has expired.",
  ),
  certificate_authority_without_crl: lasting(
    'the certificate authority may not sign revocation lists',
    "The authority's key usage does not include revocation lists.",
  ),
  directory_unavailable: lasting(
    'the directory cannot be read',
    'The text says why. Test the source and correct its settings.',
  ),
  destination_unavailable: lasting(
    'the log destination takes no records',
    'The text says why. Test the destination and correct its settings.',
  ),
  license_missing: lasting('service unavailable', 'The tenant has no license.'),
  enrollment_license_expired: lasting('license expired', 'No agent enrolls until a new license is installed.'),
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

export type ErrorCode = keyof typeof errorCodes;

/** The codes of a kind. A failure of one kind cannot carry a code of another. */
export type CodeOf<Kind extends ErrorKind> = {
  [Code in ErrorCode]: (typeof errorCodes)[Code]['kind'] extends Kind ? Code : never;
}[ErrorCode];
