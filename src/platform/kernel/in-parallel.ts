/**
 * Runs `work` for every item in order, at most `atOnce` at a time. After an error no further item is started; running
 * work is awaited, then the first error is thrown.
 */
export async function inParallel<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failed: unknown[] = [];
  const worker = async () => {
    for (let at = next++; at < items.length && failed.length === 0; at = next++)
      await work(items[at]!, at).catch((error: unknown) => void failed.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failed.length > 0) throw failed[0];
}

/** Waits for all of this work, then throws the first error. */
export async function settled(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
