/** Maximum number of results per kind, newest first, in a search and in an export (choice OP-240). */
export const MAX_HITS = 10_000;
