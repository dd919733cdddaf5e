import { Fragment, type ReactNode } from 'react';
import { partsOf } from './text.ts';

/** A text with elements filled in. Each element is a bidi isolate, so that a name in another script cannot reorder the text. */
export function Fill({ text, ...values }: { readonly text: string } & Readonly<Record<string, ReactNode>>): ReactNode {
  return partsOf(text).map(({ text: part, isName }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never change places
    <Fragment key={index}>{isName ? <bdi>{values[part]}</bdi> : part}</Fragment>
  ));
}
