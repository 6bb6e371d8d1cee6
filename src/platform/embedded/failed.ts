/** The embedded PostgreSQL could not be created or started. The message has its own words. */
export class EmbeddedPostgresFailed extends Error {
  constructor(message: string) {
    super(`the embedded PostgreSQL ${message}`);
    this.name = 'EmbeddedPostgresFailed';
  }
}

/** Something is wrong with the folder of the cluster that stays so until a person corrects it. */
export class UnusableCluster extends EmbeddedPostgresFailed {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableCluster';
  }
}
