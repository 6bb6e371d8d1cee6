import type { S3Settings } from '../../platform/objects/s3-objects.ts';
import { isGiven, type GivenSettings, type SettingProblems } from './given-settings.ts';

const S3_SETTINGS = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];

interface S3Values {
  readonly S3_ENDPOINT?: string | undefined;
  readonly S3_BUCKET?: string | undefined;
  readonly S3_REGION: string;
  readonly S3_ACCESS_KEY_ID?: string | undefined;
  readonly S3_SECRET_ACCESS_KEY?: string | undefined;
  readonly S3_TRUSTED: boolean;
}

/** All S3 settings or none: with only some of them, objects would silently be kept in `dataDir`. */
export function s3Of(given: GivenSettings, settings: S3Values, problems: SettingProblems): S3Settings | undefined {
  const missing = S3_SETTINGS.filter((name) => !isGiven(given, name));
  if (missing.length === S3_SETTINGS.length) return undefined;
  for (const name of missing) problems.add(`${name} is required with the other S3 settings`);
  return {
    endpoint: settings.S3_ENDPOINT!,
    bucket: settings.S3_BUCKET!,
    region: settings.S3_REGION,
    accessKeyId: settings.S3_ACCESS_KEY_ID!,
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY!,
    isTrusted: settings.S3_TRUSTED,
  };
}
