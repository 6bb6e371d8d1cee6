import { z } from 'zod';
import {
  destinationFields,
  destinationSecrets,
  destinationSettings,
  refusePlainHttp,
  type DestinationConfig,
} from '../../../../contexts/log-destinations/domain/config.ts';
import type { LogDestination } from '../../../../contexts/log-destinations/domain/events.ts';
import { concealedIn, MISSING_VALUE } from '../../../../contexts/log-destinations/domain/header-values.ts';
import type { DestinationType, LogFormat } from '../../../../contexts/log-destinations/domain/vocabulary.ts';
import { FailureError } from '../../../../platform/kernel/failure.ts';
import { kindsBy } from '../../../../platform/kernel/kinds-by.ts';
import { withoutDefault } from '../../../../platform/resources/fields.ts';
import { plainAddressesIn, textAt } from '../../plain-addresses.ts';
import { failureOfIssues } from '../../wrong-fields.ts';

const DEFAULTS: Pick<LogDestination, 'isEnabled' | 'eventTypes' | 'allowPrivateNetwork' | 'caCertificate'> = {
  isEnabled: true,
  eventTypes: ['alert', 'audit'],
  allowPrivateNetwork: false,
  caCertificate: null,
};

const shared = {
  format: destinationSettings.format.optional(),
  isEnabled: destinationSettings.isEnabled.optional(),
  eventTypes: destinationSettings.eventTypes.optional(),
  allowPrivateNetwork: destinationSettings.allowPrivateNetwork.optional(),
  caCertificate: destinationSettings.caCertificate.optional(),
};

/** Nothing is stored yet that `[concealed]` could stand for. */
const newFields = {
  ...destinationFields,
  webhook: {
    ...destinationFields.webhook,
    headers: destinationFields.webhook.headers.superRefine((headers, { addIssue }) => {
      for (const name of concealedIn(headers)) addIssue({ code: 'custom', message: MISSING_VALUE, path: [name] });
    }),
  },
};

const newOf = <Type extends DestinationType>(type: Type) => {
  const secret = destinationSecrets[type];
  return z.object({
    type: z.literal(type),
    name: destinationSettings.name,
    config: z.object({
      ...newFields[type],
      ...(secret ? { [secret.name]: secret.schema.nullish() } : {}),
    }),
    ...shared,
  });
};

export const newLogDestination = kindsBy('type', [
  newOf('syslog'),
  newOf('webhook'),
  newOf('splunk_hec'),
  newOf('elasticsearch'),
  newOf('s3'),
]);

const optionalFields = (fields: z.ZodRawShape): z.ZodRawShape =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withoutDefault(field as z.ZodType).optional()]),
  );

/** Names that types share have one schema here: the laxer one, and the type's own is checked afterwards. */
export const logDestinationChanges = z.object({
  name: destinationSettings.name.optional(),
  config: z
    .object({
      ...optionalFields(destinationFields.s3),
      ...optionalFields(destinationFields.elasticsearch),
      ...optionalFields(destinationFields.splunk_hec),
      ...optionalFields(destinationFields.webhook),
      ...optionalFields(destinationFields.syslog),
      index: z.string().nullable().optional(),
      token: destinationSecrets.webhook.schema.nullish(),
      apiKey: destinationSecrets.elasticsearch.schema.nullish(),
      secretAccessKey: destinationSecrets.s3.schema.nullish(),
    })
    .optional(),
  ...shared,
});
export type LogDestinationChanges = z.output<typeof logDestinationChanges>;

/** The input of the create command. */
export function logDestinationDraft(
  { type, name, config, format, ...given }: z.output<typeof newLogDestination>,
  destinationId: string,
) {
  const { [destinationSecrets[type]?.name ?? '']: secret, ...plain } = config as Record<string, unknown>;
  const credential = (secret as string | null | undefined) ?? null;
  const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const usual: LogFormat = type === 'syslog' ? 'rfc5424' : 'json';
  const destination = {
    ...DEFAULTS,
    ...chosen,
    destinationId,
    name,
    format: format ?? usual,
    config: { ...plain, type } as DestinationConfig,
  };
  return { destination: destination as Omit<LogDestination, 'secretRef' | 'addressRef' | 'slot'>, credential };
}

/** The input of the update command, for a destination of this type. Throws for a field that its type does not allow. */
export function logDestinationUpdate(
  { config = {}, ...changes }: LogDestinationChanges,
  type: DestinationType,
  destinationId: string,
) {
  const given = config as Readonly<Record<string, unknown>>;
  const own = z
    .object({ config: z.object(optionalFields(destinationFields[type])) })
    .safeParse({ config: given }, { reportInput: true });
  if (!own.success) throw new FailureError(failureOfIssues('config', own.error));
  const secret = destinationSecrets[type];
  return {
    destinationId,
    changes,
    config: own.data.config as Readonly<Record<string, unknown>>,
    credential: secret ? (given[secret.name] as string | null | undefined) : undefined,
  };
}

const addressesIn = (type: string | undefined): readonly string[] =>
  type === 's3' ? ['config.endpoint'] : type === 'syslog' ? [] : ['config.url'];

/** Test servers of developers speak plain HTTP; nobody else's may. */
export const judgeNewDestination = (body: unknown, { config }: { readonly config: { readonly devMode: boolean } }) =>
  plainAddressesIn(body, addressesIn(textAt(body, 'type')), config);

/** The same for a change: which fields count follows from the stored type. */
export function refuseInsecureDestination({ devMode }: { readonly devMode: boolean }, config: DestinationConfig): void {
  const refused = devMode ? undefined : refusePlainHttp(config);
  if (refused) throw new FailureError(refused);
}
