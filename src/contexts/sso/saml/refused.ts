/** Why a response was not accepted, as the audit log records it. The client only learns that it was refused. */
export type SamlRefusal =
  | 'too_large'
  | 'malformed'
  | 'forbidden_markup'
  | 'structure'
  | 'weak_algorithm'
  | 'schema'
  | 'signature'
  | 'status'
  | 'issuer'
  | 'audience'
  | 'recipient'
  | 'destination'
  | 'not_requested'
  | 'expired'
  | 'not_yet_valid'
  | 'replayed'
  | 'no_subject';

export class SamlRefused extends Error {
  readonly reason: SamlRefusal;
  readonly detail: string;
  constructor(reason: SamlRefusal, detail: string) {
    super(`${reason}: ${detail}`);
    this.name = 'SamlRefused';
    this.reason = reason;
    this.detail = detail;
  }
}

export function refuseSaml(reason: SamlRefusal, detail: string): never {
  throw new SamlRefused(reason, detail);
}
