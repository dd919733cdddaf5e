import type { ReactNode } from 'react';
import type { Strings } from '../strings/en.ts';
import { HomeGlyph, HookGlyph, PeopleGlyph, PersonGlyph, RowsGlyph, ShopGlyph } from './glyphs.tsx';

/** The pages with a link. A page without its right is not shown. */
export const PAGES = [
  { to: '/', word: 'home', right: 'payments:read', Glyph: HomeGlyph },
  { to: '/payments', word: 'payments', right: 'payments:read', Glyph: RowsGlyph },
  { to: '/merchants', word: 'merchants', right: 'merchants:read', Glyph: ShopGlyph },
  { to: '/webhooks', word: 'webhooks', right: 'webhooks', Glyph: HookGlyph },
  { to: '/team', word: 'team', right: 'people:read', Glyph: PeopleGlyph },
  { to: '/account', word: 'account', right: 'self', Glyph: PersonGlyph },
] as const satisfies readonly { to: string; word: keyof Strings; right: string; Glyph: () => ReactNode }[];
