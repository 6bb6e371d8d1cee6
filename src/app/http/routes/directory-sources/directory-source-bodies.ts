import { z } from 'zod';
import {
  CLEAR_LDAP,
  configFields,
  refuseClearText,
  secretFields,
  sourceFields,
  type DirectoryConfig,
  type DirectoryType,
} from '../../../../contexts/directory-sources/domain/config.ts';
import type { DirectorySource } from '../../../../contexts/directory-sources/domain/events.ts';
import { FailureError, type FieldError } from '../../../../platform/kernel/failure.ts';
import { kindsBy } from '../../../../platform/kernel/kinds-by.ts';
import { withoutDefault } from '../../../../platform/resources/fields.ts';
import { plainAddressesIn, textAt } from '../../plain-addresses.ts';

const DEFAULTS = {
  isEnabled: true,
  syncIntervalMinutes: 60,
  maxDeactivationShare: 20,
  allowPrivateNetwork: false,
  caCertificate: null,
} as const;

const shared = {
  isEnabled: sourceFields.isEnabled.optional(),
  syncIntervalMinutes: sourceFields.syncIntervalMinutes.optional(),
  maxDeactivationShare: sourceFields.maxDeactivationShare.optional(),
  allowPrivateNetwork: sourceFields.allowPrivateNetwork.optional(),
  caCertificate: sourceFields.caCertificate.optional(),
};

const newOf = <Type extends DirectoryType>(type: Type) => {
  const { name, schema } = secretFields[type];
  return z.object({
    type: z.literal(type),
    name: sourceFields.name,
    config: z.object({ ...configFields[type], [name]: schema.nullish() }),
    ...shared,
  });
};

export const newDirectorySource = kindsBy('type', [
  newOf('ldap'),
  newOf('active_directory'),
  newOf('entra_id'),
  newOf('google_workspace'),
  newOf('okta'),
]);

const optionalFields = (fields: z.ZodRawShape): z.ZodRawShape =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withoutDefault(field as z.ZodType).optional()]),
  );

/** Fields that are left out keep their values; those of another type are ignored (choice OP-009). */
export const directorySourceChanges = z.object({
  name: sourceFields.name.optional(),
  config: z
    .object({
      ...optionalFields(configFields.okta),
      ...optionalFields(configFields.google_workspace),
      ...optionalFields(configFields.entra_id),
      ...optionalFields(configFields.ldap),
      // `domain` of Google and `host` of LDAP are both host names, so one schema fits each name.
      bindPassword: secretFields.ldap.schema.nullish(),
      clientSecret: secretFields.entra_id.schema.nullish(),
      serviceAccountKey: secretFields.google_workspace.schema.nullish(),
      apiToken: secretFields.okta.schema.nullish(),
    })
    .optional(),
  ...shared,
});
export type DirectorySourceChanges = z.output<typeof directorySourceChanges>;

/** The input of the create command. */
export function directoryDraftOf(
  { type, name, config, ...given }: z.output<typeof newDirectorySource>,
  sourceId: string,
) {
  const { [secretFields[type].name]: secret, ...plain } = config as Record<string, unknown>;
  const credential = (secret as string | null | undefined) ?? null;
  const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const source = { ...DEFAULTS, ...chosen, sourceId, name, config: { ...plain, type } as DirectoryConfig };
  return { source: source as Omit<DirectorySource, 'secretRef'>, credential };
}

/** The input of the update command, for a source of this type. */
export function directoryChangesOf(
  { config = {}, ...changes }: DirectorySourceChanges,
  type: DirectoryType,
  sourceId: string,
) {
  const given = config as Readonly<Record<string, unknown>>;
  return { sourceId, changes, config: given, credential: given[secretFields[type].name] as string | null | undefined };
}

const ADDRESSES: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ['entra_id', ['config.loginUrl', 'config.graphUrl']],
  ['google_workspace', ['config.apiUrl']],
  ['okta', ['config.orgUrl']],
]);
const speaksLdap = (type: string | undefined): boolean => type === 'ldap' || type === 'active_directory';

interface Judged {
  readonly config?: { readonly useTls?: unknown } | null;
}

/** Test servers of developers speak plain HTTP and LDAP; nobody else's may. */
export function judgeNewDirectory(
  body: unknown,
  { config }: { readonly config: { readonly devMode: boolean } },
): readonly FieldError[] {
  const type = textAt(body, 'type');
  const isClear = !config.devMode && speaksLdap(type) && (body as Judged).config?.useTls === false;
  return [...(isClear ? [CLEAR_LDAP] : []), ...plainAddressesIn(body, ADDRESSES.get(type) ?? [], config)];
}

/** The same for a change: which fields count follows from the stored type. */
export function refuseInsecureDirectory({ devMode }: { readonly devMode: boolean }, config: DirectoryConfig): void {
  const refused = devMode ? undefined : refuseClearText(config);
  if (refused) throw new FailureError(refused);
}
