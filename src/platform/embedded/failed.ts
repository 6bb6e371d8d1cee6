/** The embedded PostgreSQL could not be created or started. The message has its own words. */
export class EmbeddedPostgresFailed extends Error {
  constructor(message: string) {
    super(`the embedded PostgreSQL ${message}`);
    this.name = 'EmbeddedPostgresFailed';
  }
}
