/** In pixels, from the header of the file. */
export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** The bytes are not an acceptable image. Messages are fixed texts that follow "file:". */
export class ImageRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ImageRefused';
  }
}
