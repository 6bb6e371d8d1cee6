import { X509Certificate } from 'node:crypto';
import type { Server } from 'node:https';
import { installedServerCertificate } from '../../../queries/certificates/installed-server-certificate.ts';
import {
  serverCertificateEvents,
  serverKeyLocation,
  type ServerCertificateInstalled,
} from './domain/server-certificate.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { namesOf, type CertificateDetails } from '../../platform/pki/certificate-details.ts';
import { serverWeakness } from './server-weakness.ts';
import { serverCertificate, type ServerCertificateDependencies } from './server-certificate.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../platform/vault/vault.ts';
import type { InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';

export interface ListenerCertificateDependencies extends ServerCertificateDependencies {
  readonly log: Logger;
  readonly vault: Vault;
  readonly cache: InvalidatingCache;
  vitalReads(tenantId: TenantId): TenantReads;
}

interface Pair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

export interface ListenerStatus extends Pick<CertificateDetails, 'subject' | 'issuer' | 'expiresAt' | 'serialNumber'> {
  readonly source: 'uploaded' | 'generated';
}

/**
 * The certificate of this process's TLS listener: the one that an admin installed, else the one in DATA_DIR/tls. A new
 * certificate applies to new connections; existing connections continue.
 */
export class ListenerCertificate {
  readonly #services: ListenerCertificateDependencies;
  #listener: Server | undefined;
  #shown: ListenerStatus | undefined;

  constructor(services: ListenerCertificateDependencies) {
    this.#services = services;
    services.cache.onEvent(serverCertificateEvents, 'ServerCertificateInstalled', (event) => void this.#follow(event));
  }

  /** The initial pair. */
  async begin(): Promise<Pair> {
    const row = orThrow(await installedServerCertificate(this.#services.vitalReads(INSTALLATION), undefined));
    const installed = row && (await this.#pair(asTenantId(row.tenant), row.certificate_pem, row.private_key_ref));
    const pair = installed ?? (await serverCertificate(this.#services));
    const weakness = serverWeakness(new X509Certificate(pair.certificatePem));
    if (weakness !== undefined) this.#services.log.warn({ reason: weakness }, 'clients refuse the certificate of TLS');
    this.#note(pair, installed ? 'uploaded' : undefined);
    return pair;
  }

  attach(listener: Server): void {
    this.#listener = listener;
  }

  get status(): ListenerStatus | undefined {
    return this.#shown;
  }

  /** Switches to a certificate that was recorded: in this process at once, in others when they receive the event. */
  async show(
    tenantId: TenantId,
    { certificatePem, privateKeyRef }: Pick<ServerCertificateInstalled, 'certificatePem' | 'privateKeyRef'>,
  ): Promise<void> {
    const pair = await this.#pair(tenantId, certificatePem, privateKeyRef);
    if (!pair) return;
    this.#listener?.setSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem, minVersion: 'TLSv1.2' });
    this.#note(pair, 'uploaded');
  }

  async #follow({ tenantId, data }: { tenantId: TenantId; data: ServerCertificateInstalled }): Promise<void> {
    await this.show(tenantId, data).catch((error: Error) =>
      this.#services.log.error({ reason: error.message }, 'the listener keeps its old certificate'),
    );
  }

  async #pair(tenantId: TenantId, certificatePem: string, privateKeyRef: string): Promise<Pair | undefined> {
    const key = await this.#services.vault.get(tenantId, serverKeyLocation(tenantId), privateKeyRef);
    return key && { certificatePem, privateKeyPem: key.toString() };
  }

  #note({ certificatePem }: Pair, source: ListenerStatus['source'] | undefined): void {
    // As OpenSSL reads it, which serves it: an operator's own may be of another version than those that we accept from others.
    const certificate = new X509Certificate(certificatePem);
    const { subject, issuer } = namesOf(certificate);
    this.#shown = {
      subject,
      issuer,
      expiresAt: Date.parse(certificate.validTo),
      serialNumber: certificate.serialNumber,
      source: source ?? (subject === issuer ? 'generated' : 'uploaded'),
    };
  }
}
