import { isDeepStrictEqual } from 'node:util';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { refuseUnlessOwnerOfPrivate } from '../../src/contexts/admins/domain/private-destinations.ts';
import {
  destinationAddress,
  receiverOf,
  refuseTokenElsewhere,
  type DestinationConfig,
} from '../../src/contexts/log-destinations/domain/config.ts';
import {
  refuseHeadersElsewhere,
  refuseMissingValue,
  withStoredValues,
} from '../../src/contexts/log-destinations/domain/header-values.ts';
import {
  logDestination,
  logDestinationSecret,
  logDestinationStream,
} from '../../src/contexts/log-destinations/domain/log-destination.ts';
import type { LogDestination } from '../../src/contexts/log-destinations/domain/events.ts';
import {
  hiddenConfig,
  openConfig,
  readHidden,
  storeHidden,
  webAddressField,
  wholeConfig,
  type HiddenConfig,
} from '../../src/contexts/log-destinations/domain/whole-config.ts';
import { accept, defineCommand, replacedSecret } from '../../src/platform/kernel/command.ts';
import {
  invalid,
  notFound,
  refuseTogether,
  temporarilyUnavailable,
  type Failure,
} from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithDestinations, WithVault } from '../ports.ts';
import { refuseUnreachableDestination } from './reachable-destination.ts';

type Settings = Omit<LogDestination, 'destinationId' | 'secretRef' | 'addressRef' | 'slot' | 'config'>;

interface UpdateLogDestination {
  readonly destinationId: string;
  /** Omitted fields keep their values. */
  readonly changes: { readonly [Name in keyof Settings]?: Settings[Name] | undefined };
  /** Of `headers`, `[concealed]` keeps the stored value. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Undefined keeps the stored one; null removes it. */
  readonly credential: string | null | undefined;
  readonly reauthenticated?: boolean;
  readonly isSuperAdmin?: boolean;
}

interface Facts {
  readonly secretRef: string | null | undefined;
  /** The reference that `before` was read with. */
  readonly of: string | null;
  readonly before: HiddenConfig | undefined;
  /** What is stored under `addressRef`. */
  readonly after: HiddenConfig | undefined;
  readonly addressRef: string | null;
}

export const updateLogDestination = defineCommand({
  name: 'UpdateLogDestination',
  aggregate: logDestination,
  stream: ({ destinationId }: UpdateLogDestination, { tenantId }) => logDestinationStream(tenantId, destinationId),
  async prepare(
    input: UpdateLogDestination,
    { vault, aggregates, destinations }: WithVault & WithAggregates & WithDestinations,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { destinationId, credential } = input;
    const { destination: stored } = await aggregates.load(
      logDestination,
      logDestinationStream(tenantId, destinationId),
    );
    if (!stored) return notFound();
    const before = await readHidden(stored, vault, tenantId);
    const field = webAddressField(stored.config);
    if (stored.addressRef !== null && !before && field && input.config[field] === undefined)
      return invalid(`config.${field}`, 'is no longer stored: give it again, with the headers');
    const destination = whole(stored, before);
    const wanted = changed(destination, input);
    // Only changes of the reach are checked: any other change must stay possible while a name leads elsewhere.
    const reaches =
      !isDeepStrictEqual(wanted.config, destination.config) ||
      wanted.allowPrivateNetwork !== destination.allowPrivateNetwork;
    const refused = refuseTogether(
      stored.secretRef !== null && credential === undefined
        ? refuseTokenElsewhere(destination.config, wanted.config)
        : undefined,
      refuseHeadersElsewhere(destination.config, wanted.config, givenHeaders(input)) ??
        refuseMissingValue(wanted.config),
      reaches ? await refuseUnreachableDestination(destinations, wanted.config, wanted) : undefined,
    );
    if (refused) return refused;
    const location = logDestinationSecret(destinationId);
    const after = hiddenConfig(wanted.config);
    // Also where an earlier event holds it in clear text: the next one does not.
    const isKept = isDeepStrictEqual(after, before);
    return {
      secretRef: typeof credential === 'string' ? await vault.put(tenantId, location, credential) : credential,
      of: stored.addressRef,
      before,
      after,
      addressRef: isKept ? stored.addressRef : await storeHidden(after, destinationId, vault, tenantId),
    };
  },
  decide({ destination: stored }, input, { actor }, { secretRef, ...hidden }: Facts) {
    if (!stored) return notFound();
    const destination = whole(stored, hidden.before);
    const updated = {
      ...changed(destination, input),
      secretRef: secretRef === undefined ? destination.secretRef : secretRef,
    };
    // Another change came between: what `prepare` read or stored is not of this state.
    if (hidden.of !== stored.addressRef || !isDeepStrictEqual(hiddenConfig(updated.config), hidden.after))
      return temporarilyUnavailable('too_many_changes');
    const keepsSecret = destination.secretRef !== null && updated.secretRef === destination.secretRef;
    const refused = refuseTogether(
      keepsSecret ? refuseTokenElsewhere(destination.config, updated.config) : undefined,
      refuseHeadersElsewhere(destination.config, updated.config, givenHeaders(input)),
    );
    if (refused) return refused;
    if (isDeepStrictEqual(updated, destination)) return accept([]);
    const isMoved = leadsElsewhere(destination, updated);
    const isSilenced = silencesWatch(destination, updated);
    const notAllowed =
      refuseUnlessOwnerOfPrivate(reachOf(destination), reachOf(updated), input.isSuperAdmin) ??
      (isMoved || isSilenced ? refuseUnlessReauthenticated(actor, input.reauthenticated) : undefined);
    if (notAllowed) return notAllowed;
    const { addressRef } = hidden;
    const data = { ...updated, config: openConfig(updated.config), addressRef, isMoved, isSilenced };
    return accept([{ type: 'LogDestinationUpdated', data }], {
      forget: [
        ...replacedSecret(stored.secretRef, updated.secretRef),
        ...replacedSecret(stored.addressRef, addressRef),
      ],
    });
  },
  freshens: ['log_destinations'],
});

const whole = (destination: LogDestination, part: HiddenConfig | undefined): LogDestination => ({
  ...destination,
  config: wholeConfig(destination.config, part),
});

const reachOf = ({ allowPrivateNetwork, config }: LogDestination) => ({
  allowPrivateNetwork,
  address: destinationAddress(config).address,
});

/** Records, or the proof that protects them, would go somewhere else than before (OP-552). */
const leadsElsewhere = (before: LogDestination, after: LogDestination): boolean =>
  !isDeepStrictEqual(
    [receiverOf(before.config), before.caCertificate, before.secretRef, before.allowPrivateNetwork],
    [receiverOf(after.config), after.caCertificate, after.secretRef, after.allowPrivateNetwork],
  );

/** Records that an attacker wants to keep from the people who watch (OP-436). */
const WATCHED = ['alert', 'audit'] as const;

const silencesWatch = (before: LogDestination, after: LogDestination): boolean =>
  before.isEnabled &&
  WATCHED.some((type) => before.eventTypes.includes(type) && !(after.isEnabled && after.eventTypes.includes(type)));

/** The type of a destination never changes. Fields of another type are ignored. */
function changed(destination: LogDestination, { changes, config }: UpdateLogDestination): LogDestination {
  const given = (values: object, known: object) =>
    Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== undefined && name in known));
  const wanted = { ...destination.config, ...given(config, destination.config), type: destination.config.type };
  return {
    ...destination,
    ...given(changes, destination),
    config: withHeaders(destination.config, wanted as DestinationConfig),
  };
}

const withHeaders = (stored: DestinationConfig, wanted: DestinationConfig): DestinationConfig =>
  stored.type === 'webhook' && wanted.type === 'webhook'
    ? { ...wanted, headers: withStoredValues(stored.headers, wanted.headers) }
    : wanted;

const givenHeaders = ({ config }: UpdateLogDestination) =>
  config['headers'] as Readonly<Record<string, string>> | undefined;
