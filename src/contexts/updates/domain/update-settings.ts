/** The longest time of the operator's command (`UPDATE_COMMAND_SECONDS`). */
export const LONGEST_COMMAND_SECONDS = 3_600;

/** What the operator allows for updates (`UPDATE_…`). The same on every node. */
export interface UpdateSettings {
  /** The version of the running service. */
  readonly runningVersion: string;
  /** The tenant whose super admins update the installation. Undefined: the only tenant, while there is one. */
  readonly tenantId: string | undefined;
  /** PEM, Ed25519: verifies bundles and the feed. */
  readonly publicKey: string | undefined;
  readonly allowsUnsigned: boolean;
  readonly feedUrl: string | undefined;
  /** Whether a newer announced bundle is downloaded and staged without a request. */
  readonly downloadsAutomatically: boolean;
  /** Program and arguments. Undefined: an update is recorded, and the operator does the rest. */
  readonly command: readonly [program: string, ...given: string[]] | undefined;
  /** Milliseconds that the command may take. */
  readonly commandMs: number;
}
