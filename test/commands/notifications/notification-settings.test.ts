import { describe, it } from 'vitest';
import { changeNotificationSettings } from '../../../commands/notifications/change-notification-settings.ts';
import { changeSmtpPassword } from '../../../commands/notifications/change-smtp-password.ts';
import { disableWebhook } from '../../../commands/notifications/disable-webhook.ts';
import { endWebhookReplay } from '../../../commands/notifications/end-webhook-replay.ts';
import { rotateWebhookSecret } from '../../../commands/notifications/rotate-webhook-secret.ts';
import { startWebhookReplay } from '../../../commands/notifications/start-webhook-replay.ts';
import { FORMER_SECRET_MS, notificationSettingsEvents } from '../../../src/contexts/notifications/domain/settings.ts';
import { webhookReplayEvents } from '../../../src/contexts/notifications/domain/webhook-replay.ts';
import { historiesOf, NOW } from '../../dsl/given.ts';

const { given } = historiesOf([notificationSettingsEvents, webhookReplayEvents]);
const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((n) => `aaaaaaaa-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
];
const iso = (moment: number) => new Date(moment).toISOString();
const rotated = (secretRef: string, formerRef: string | null) => ({
  type: 'WebhookSecretRotated' as const,
  data: { secretRef, formerRef, formerUntil: formerRef === null ? null : iso(NOW + FORMER_SECRET_MS) },
});
const URL = 'https://hooks.acme.example/';
const on = {
  type: 'AlertNotificationSettingsChanged' as const,
  data: { webhookEnabled: true, webhookUrl: URL, webhookUrlRef: null },
};

describe('settings of alert notifications', () => {
  it('change the given fields only', () => {
    given()
      .when(
        changeNotificationSettings,
        { changes: { webhookEnabled: true, webhookUrl: URL, smtpPort: 587 }, reauthenticated: true },
        { passwordRef: undefined },
      )
      .then(on);
    given(on)
      .when(changeNotificationSettings, { changes: { webhookUrl: URL } }, { passwordRef: undefined })
      .thenNothing();
    given(on)
      .when(changeNotificationSettings, { changes: { webhookUrl: null } }, { passwordRef: undefined })
      .thenRefused('invalid');
  });

  it('name the whole address in the vault, and destroy the former one', () => {
    const webhook = (of: string | null, address: string | null, webhookUrlRef: string | null) => ({
      passwordRef: undefined,
      webhook: { of, address, stored: { webhookUrl: 'https://hooks.acme.example/[concealed]', webhookUrlRef } },
    });
    const change = (path: string) => ({ changes: { webhookUrl: `${URL}${path}` }, reauthenticated: true });
    const named = (webhookUrlRef: string) => ({
      type: 'AlertNotificationSettingsChanged' as const,
      data: { webhookUrl: 'https://hooks.acme.example/[concealed]', webhookUrlRef },
    });
    given(on)
      .when(changeNotificationSettings, change('a'), webhook(null, URL, FIRST))
      .then(named(FIRST));
    const rotated = given(on, named(FIRST)).when(
      changeNotificationSettings,
      change('b'),
      webhook(FIRST, `${URL}a`, SECOND),
    );
    rotated.then(named(SECOND));
    rotated.thenForgets(FIRST);
    given(on, named(FIRST))
      .when(changeNotificationSettings, change('a'), webhook(FIRST, `${URL}a`, SECOND))
      .thenNothing();
    given(on, named(SECOND))
      .when(changeNotificationSettings, change('b'), webhook(FIRST, `${URL}a`, THIRD))
      .thenRefused('unavailable');
  });

  it('keep a password only for its server', () => {
    const stored = { type: 'SmtpPasswordChanged' as const, data: { passwordRef: FIRST } };
    given(stored)
      .when(changeNotificationSettings, { changes: { smtpHost: 'other.example' } }, { passwordRef: undefined })
      .thenRefused('invalid');
    given(stored)
      .when(
        changeNotificationSettings,
        { changes: { smtpHost: 'other.example' }, reauthenticated: true },
        { passwordRef: null },
      )
      .thenForgets(FIRST);
    given(stored).when(changeSmtpPassword, { password: 'next' }, { passwordRef: SECOND }).thenForgets(FIRST);
  });

  it('keep two webhook secrets during a rotation, and never three', () => {
    given().when(rotateWebhookSecret, { secret: 's' }, { secretRef: FIRST }).then(rotated(FIRST, null));
    given(rotated(FIRST, null))
      .when(rotateWebhookSecret, { secret: 's' }, { secretRef: SECOND })
      .then(rotated(SECOND, FIRST));
    given(rotated(FIRST, null), rotated(SECOND, FIRST))
      .when(rotateWebhookSecret, { secret: 's' }, { secretRef: THIRD })
      .thenForgets(FIRST);
  });

  it('switch the webhook off, unless it has another address by now', () => {
    const off = { type: 'WebhookDisabled' as const, data: { reason: 'gone' as const, disabledAt: iso(NOW) } };
    given(on).when(disableWebhook, { webhookUrl: URL }).then(off);
    given(on).when(disableWebhook, { webhookUrl: 'https://former.example/' }).thenNothing();
    given(on, off).when(disableWebhook, { webhookUrl: URL }).thenNothing();
    given(on, off)
      .when(changeNotificationSettings, { changes: { webhookEnabled: true } }, { passwordRef: undefined })
      .then({ type: 'AlertNotificationSettingsChanged', data: { webhookEnabled: true } });
  });
});

describe('a replay', () => {
  const replay = { replayId: FIRST, from: iso(NOW - 1), to: iso(NOW), types: ['alert.created' as const] };
  const begun = { type: 'WebhookReplayStarted' as const, data: replay };

  it('is the only one of its tenant until it ends', () => {
    given().when(startWebhookReplay, replay).then(begun);
    given(begun).when(startWebhookReplay, replay).thenNothing();
    given(begun)
      .when(startWebhookReplay, { ...replay, replayId: SECOND })
      .thenRefused('conflict');
    const ended = { type: 'WebhookReplayEnded' as const, data: { replayId: FIRST, planned: 3 } };
    given(begun).when(endWebhookReplay, { replayId: FIRST, planned: 3 }).then(ended);
    given(begun, ended).when(endWebhookReplay, { replayId: FIRST, planned: 3 }).thenNothing();
    given(begun, ended)
      .when(startWebhookReplay, { ...replay, replayId: SECOND })
      .thenTypes('WebhookReplayStarted');
  });
});
