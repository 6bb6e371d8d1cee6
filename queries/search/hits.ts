/** A search counts and shows this many of each kind, the newest; who finds more asks for less. Also what an export holds at most (choice OP-240). */
export const MAX_HITS = 10_000;
