import type { Claim } from '../kernel/command.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { ClaimKey } from '../eventstore/port.ts';

/** Claims as the event store keeps them: a keyed digest instead of the value. */
export class ClaimKeys {
  readonly #digest: (value: string) => string;

  constructor(digest: (value: string) => string) {
    this.#digest = digest;
  }

  of(tenantId: TenantId, { kind, value, tenantId: owner = tenantId }: Claim): ClaimKey {
    return { tenantId: owner, kind, digest: this.#digest(`${owner}|${kind}|${value}`) };
  }
}
