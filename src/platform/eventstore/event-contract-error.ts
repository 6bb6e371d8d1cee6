/** An event that violates its contract: a programming error when writing, damaged data when reading. */
export class EventContractError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EventContractError';
  }
}

/** The client's input, or what has accumulated in an event, exceeds the maximum event size. */
export class EventTooLarge extends EventContractError {
  constructor(type: string) {
    super(`${type} is larger than an event may be`);
    this.name = 'EventTooLarge';
  }
}

/**
 * Text that PostgreSQL cannot store: NUL or a lone surrogate. HTTP input is validated and the field named. This check
 * is for other sources (the claims of an identity provider): the event would be written, but no read model could store
 * it.
 */
export class InvalidEventText extends EventContractError {
  constructor(type: string) {
    super(`${type} contains NUL or a lone surrogate, which cannot be stored`);
    this.name = 'InvalidEventText';
  }
}
