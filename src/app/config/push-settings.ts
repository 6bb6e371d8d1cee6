import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { googleServiceAccount } from '../../contexts/directory-sources/domain/google-service-account.ts';
import { APNS_ORIGINS } from '../../contexts/notifications/push/apns-push.ts';
import { FCM_API } from '../../contexts/notifications/push/fcm-push.ts';
import type { PushSettings } from '../../contexts/notifications/push/open-push-services.ts';
import { isGiven, type GivenSettings, type SettingProblems } from './given-settings.ts';
import { pemText } from './setting-types.ts';

const projectId = (text: string): string | undefined => {
  try {
    const { project_id: id } = JSON.parse(text) as { project_id?: unknown };
    return typeof id === 'string' && /^[a-z0-9:.-]{1,100}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
};

/** The whole key file of a service account, in JSON. */
export const fcmServiceAccount = z
  .string()
  .refine((text) => googleServiceAccount(text) !== undefined && projectId(text) !== undefined, {
    error: 'must be the key file of a Google service account in JSON, with project_id',
  });

export const apnsKey = pemText.refine(isP256Key, { error: 'must be the .p8 key of Apple: a P-256 private key in PEM' });
export const appleId = z.string().regex(/^[A-Z0-9]{10}$/, { error: 'must be 10 letters or digits' });
export const apnsTopic = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,200}$/, { error: "must be the app's bundle id: com.example.app" });
export const apnsEnvironment = z.enum(['production', 'sandbox'], { error: 'must be production or sandbox' });

function isP256Key(text: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(text);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

interface PushValues {
  readonly PUSH_GATEWAY_URL?: string | undefined;
  readonly PUSH_GATEWAY_TOKEN?: string | undefined;
  readonly FCM_SERVICE_ACCOUNT?: string | undefined;
  readonly APNS_KEY?: string | undefined;
  readonly APNS_KEY_ID?: string | undefined;
  readonly APNS_TEAM_ID?: string | undefined;
  readonly APNS_TOPIC?: string | undefined;
  readonly APNS_ENVIRONMENT: keyof typeof APNS_ORIGINS;
}

const APNS_SETTINGS = ['APNS_KEY', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_TOPIC'];

/** A gateway, or the services of the platforms. Incomplete settings would lose pushes without a word. */
export function pushOf(given: GivenSettings, settings: PushValues, problems: SettingProblems): PushSettings {
  const missing = APNS_SETTINGS.filter((name) => !isGiven(given, name));
  const hasApns = missing.length < APNS_SETTINGS.length;
  if (hasApns) for (const name of missing) problems.add(`${name} is required with the other APNS settings`);
  if (isGiven(given, 'PUSH_GATEWAY_URL') && (isGiven(given, 'APNS_KEY') || isGiven(given, 'FCM_SERVICE_ACCOUNT')))
    problems.add('PUSH_GATEWAY_URL excludes FCM_SERVICE_ACCOUNT and APNS_KEY: the gateway gets all pushes');
  const { PUSH_GATEWAY_URL: url, PUSH_GATEWAY_TOKEN: token, FCM_SERVICE_ACCOUNT: keyFile } = settings;
  return {
    gateway: url === undefined ? undefined : { url, token },
    fcm:
      keyFile === undefined
        ? undefined
        : { projectId: projectId(keyFile)!, account: googleServiceAccount(keyFile)!, apiUrl: FCM_API },
    apns: hasApns
      ? {
          key: settings.APNS_KEY!,
          keyId: settings.APNS_KEY_ID!,
          teamId: settings.APNS_TEAM_ID!,
          topic: settings.APNS_TOPIC!,
          url: APNS_ORIGINS[settings.APNS_ENVIRONMENT],
        }
      : undefined,
  };
}
