/** The ports for a command's preparation, and the compensation for what the preparation stored if the command fails. */
export interface UnitOfWork<Ports> {
  readonly ports: Ports;
  compensate(): Promise<void>;
}
