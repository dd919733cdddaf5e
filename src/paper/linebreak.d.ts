/** The types of the package `linebreak`, which has none of its own. */
declare module 'linebreak' {
  export default class LineBreaker {
    constructor(text: string);
    /** The next position at which a line may be broken (UAX 14), or null at the end. */
    nextBreak(): { readonly position: number; readonly required: boolean } | null;
  }
}
