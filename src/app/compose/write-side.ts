import type { CommandPorts } from '../../../commands/ports.ts';
import { ArrivalBudgets } from '../../platform/arrivals/arrival-budgets.ts';
import { PostgresReferenceLocks } from '../../platform/database/reference-locks.ts';
import { licensePublicKey } from '../../contexts/tenants/domain/license.ts';
import { foldedEmail } from '../../contexts/tenants/domain/tenant.ts';
import { Executor } from '../../platform/execution/executor.ts';
import { Passwords } from '../../contexts/identity/passwords.ts';
import { VerificationCodes } from '../../contexts/identity/verification-codes.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { heldNumbersFromClaims, heldNumbersFromReadModel } from '../../platform/numbers/held-numbers.ts';
import { NumberFinder } from '../../platform/numbers/number-finder.ts';
import { openObjects } from '../../platform/objects/open-objects.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { VaultCertificateService } from '../../platform/pki/certificate-service.ts';
import { newAuthority } from '../../platform/pki/new-authority.ts';
import { unreachableDestination } from '../../platform/outbound/destinations.ts';
import { Pictures } from '../../contexts/screenshots/pictures.ts';
import { vaultDisposal } from '../../platform/vault/vault-disposal.ts';
import type { ServiceContainer } from './service-container.ts';
import { vaultUnitOfWork } from '../../platform/vault/vault-unit-of-work.ts';
import type { ReadSide } from './read-side.ts';
import type { CompositionContext } from './composition-context.ts';
import type { Storage } from './storage.ts';

export interface WriteSide extends Pick<
  ServiceContainer,
  'executor' | 'referenceLocks' | 'ports' | 'passwords' | 'pictures' | 'accountDigest' | 'credentialSalt'
> {
  readonly objects: ObjectStore;
}

/** The command executor and the ports that commands use. */
export function openWriteSide(
  { config, options, log }: CompositionContext,
  { store, codec, database, keyrings, vault, personKeys, trust }: Storage,
  readSide: ReadSide,
  later: { readonly jobs: () => Jobs; readonly outbox: () => Pick<CommandPorts['outbox'], 'mayBegin'> },
): WriteSide {
  const keyring = keyrings.current;
  const { loader } = readSide;
  const digestAccount = keyring.digester('account');
  const accountDigest = (email: string) => digestAccount(foldedEmail(email));
  const digestPushToken = keyring.digester('push-token');
  const passwords = options.passwords ?? new Passwords();
  const objects = openObjects(config);
  const pictures = new Pictures(objects, personKeys);
  const claimHolders: CommandPorts['claimHolders'] = (tenantId, claims) => executor.claimHolders(tenantId, claims);
  const ports: ServiceContainer['ports'] = {
    aggregates: loader,
    vault,
    destinations: { unreachable: (address, choice) => unreachableDestination(address, config, choice) },
    personKeys,
    passwords,
    licensePublicKey: licensePublicKey(config.licensePublicKey),
    accountDigest,
    pushTokenDigest: (tenantId, token) => digestPushToken(`${tenantId}|${token}`),
    newAuthority,
    certificates: new VaultCertificateService(vault),
    verificationCodes: new VerificationCodes(keyring.digester('verification-codes')),
    pictures,
    arrivals: new ArrivalBudgets(database.service),
    claimHolder: (tenantId, claim) => executor.claimHolder(tenantId, claim),
    claimHolders,
    outbox: {
      mayBegin: (...attempt) => later.outbox().mayBegin(...attempt),
      settings: (tenantId) => readSide.notificationSettings.of(tenantId),
    },
    freeNumbers: new NumberFinder(
      heldNumbersFromClaims({ claimHolders }),
      heldNumbersFromReadModel(readSide, () => store.head()),
    ),
  };
  const referenceLocks = new PostgresReferenceLocks(database.locks);
  const executor: Executor<CommandPorts> = new Executor(
    store,
    codec,
    loader,
    keyring.digester('claim'),
    () => vaultUnitOfWork(ports),
    vaultDisposal(vault, later.jobs, log),
    { trust, locks: referenceLocks },
  );
  return {
    executor,
    referenceLocks,
    ports,
    passwords,
    objects,
    pictures,
    accountDigest,
    credentialSalt: keyring.digester('credential-salt'),
  };
}
