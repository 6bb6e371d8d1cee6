import type { PictureKeeper } from '../../../commands/screenshots/take-screenshot.ts';
import type { ScreenshotLocation } from './domain/screenshot-location.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { objectKey, objectPrefix, type ObjectStore } from '../../platform/objects/object-store.ts';
import { decrypt, encrypt } from '../../platform/vault/keyring.ts';
import { personKey, type PersonKeys } from '../../platform/vault/vault.ts';

/** All screenshots of the installation. */
export const SCREENSHOT_PREFIX = objectPrefix('screenshots');

const keyOf = ({ tenantId, userId, deviceId, day, screenshotId }: ScreenshotLocation): string =>
  objectKey('screenshots', tenantId, userId, deviceId, day, screenshotId);

/** The screenshot that an object key belongs to. */
export function screenshotLocationOf(key: string): ScreenshotLocation {
  const [, tenantId, userId, deviceId, day, screenshotId] = key.split('/') as [
    string,
    TenantId,
    string,
    string,
    string,
    string,
  ];
  return { tenantId, userId, deviceId, day, screenshotId };
}

const boundTo = ({ tenantId, screenshotId }: ScreenshotLocation): string => `screenshot|${tenantId}|${screenshotId}`;

/**
 * Stores images, each sealed under its person's own key and bound to its id. Without the key no image can be read, not
 * even from a backup. Objects are grouped by tenant and person, so that a person's images are found without a read
 * model. Throws `ObjectStoreUnavailable`, and an error if an image was tampered with.
 */
export class Pictures implements PictureKeeper {
  readonly #objects: ObjectStore;
  readonly #personKeys: PersonKeys;

  constructor(objects: ObjectStore, personKeys: PersonKeys) {
    this.#objects = objects;
    this.#personKeys = personKeys;
  }

  async keep(place: ScreenshotLocation, picture: Buffer): Promise<boolean> {
    const key = await this.#personKeys.forSealing(place.tenantId, place.userId);
    if (!key) return false;
    await this.#objects.put(keyOf(place), encrypt(key, picture, boundTo(place)));
    return true;
  }

  /** Returns undefined if the image or its key is gone. */
  async read(place: ScreenshotLocation): Promise<Buffer | undefined> {
    const person = { tenantId: place.tenantId, personId: place.userId };
    const [sealed, keys] = await Promise.all([this.#objects.get(keyOf(place)), this.#personKeys.forOpening([person])]);
    const key = keys.get(personKey(person));
    return sealed && key && decrypt(key, sealed, boundTo(place));
  }

  async deleteAllOf(tenantId: TenantId, userId: string, signal?: AbortSignal): Promise<void> {
    for await (const { key } of this.#objects.list(objectPrefix('screenshots', tenantId, userId))) {
      if (signal?.aborted) return;
      await this.#objects.delete(key);
    }
  }
}
