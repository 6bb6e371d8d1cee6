/** What one command prepares with, and how to take back what its preparation left behind when nothing comes of the command. */
export interface UnitOfWork<Ports> {
  readonly ports: Ports;
  compensate(): Promise<void>;
}
