import type { Logger } from 'pino';
import { guardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { MobilePlatform } from '../../mobile/domain/events.ts';
import { ApnsPush, type ApnsSettings } from './apns-push.ts';
import { FcmPush, type FcmSettings } from './fcm-push.ts';
import { GatewayPush, type PushGatewaySettings } from './gateway-push.ts';
import type { PushOutcome, PushService } from './push-service.ts';

/** What the operator configured. A gateway takes the place of both services. */
export interface PushSettings {
  readonly gateway: PushGatewaySettings | undefined;
  readonly fcm: FcmSettings | undefined;
  readonly apns: ApnsSettings | undefined;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** The service of each platform. The operator named the addresses, so they may be private ones. */
export function openPushServices(
  { gateway, fcm, apns }: PushSettings,
  log: Logger,
): Readonly<Record<MobilePlatform, PushService>> {
  const limits = { allowPrivate: true, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES } as const;
  if (gateway) {
    // The gateway recognizes repetitions by their key.
    const service = new GatewayPush(gateway, guardedFetch({ ...limits, keepsConnections: true }));
    return { ios: service, android: service };
  }
  return {
    ios: apns ? new ApnsPush(apns) : new LoggedPush(log, 'APNS_KEY'),
    android: fcm ? new FcmPush(fcm, guardedFetch(limits)) : new LoggedPush(log, 'FCM_SERVICE_ACCOUNT'),
  };
}

/** In place of a service that is not configured (OP-193). Its receipts say that nothing was sent. */
class LoggedPush implements PushService {
  readonly #log: Logger;
  readonly #setting: string;

  constructor(log: Logger, setting: string) {
    this.#log = log;
    this.#setting = setting;
  }

  async send({ platform, messageId }: Parameters<PushService['send']>[0]): Promise<PushOutcome> {
    const missing = `set PUSH_GATEWAY_URL or ${this.#setting}`;
    this.#log.warn({ platform, messageId }, `a push was not sent: ${missing}`);
    return { kind: 'refused', reason: `nothing was sent: no push service is configured (${missing})` };
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}
