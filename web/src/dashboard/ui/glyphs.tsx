import { Glyph } from '../../shared/glyphs.tsx';

/** The icons of the navigation, in the weight and grid of the shared icons. */

export const HomeGlyph = () => <Glyph d="M4.5 19.5v-7M10 19.5V5M15.5 19.5v-9.5M20.5 19.5V8" />;
export const RowsGlyph = () => <Glyph d="M4 7h16M4 12h16M4 17h10" />;
export const PeopleGlyph = () => (
  <Glyph d="M3.5 19c.4-3.4 2.5-5.2 5.5-5.2s5.1 1.8 5.5 5.2M15.5 5.6a3.2 3.2 0 0 1 0 5.8M17.5 14.2c1.7.7 2.7 2.3 3 4.8">
    <circle cx="9" cy="8.5" r="3.2" />
  </Glyph>
);
export const PersonGlyph = () => (
  <Glyph d="M5 20c.5-3.9 3.2-6 7-6s6.5 2.1 7 6">
    <circle cx="12" cy="8.5" r="3.7" />
  </Glyph>
);
export const ShopGlyph = () => (
  <Glyph d="M4.5 10.5V19h15v-8.5M3.5 9.5 5.5 5h13l2 4.5a2.8 2.8 0 0 1-5.6.2 2.9 2.9 0 0 1-5.8 0 2.8 2.8 0 0 1-5.6-.2z" />
);
export const LinkGlyph = () => (
  <Glyph d="M10 13.5a4 4 0 0 0 5.7 0l3.2-3.2a4 4 0 0 0-5.7-5.7L11.8 6M14 10.5a4 4 0 0 0-5.7 0l-3.2 3.2a4 4 0 0 0 5.7 5.7l1.4-1.4" />
);
export const LeaveGlyph = () => (
  <Glyph isFlipped d="M10 5H6.5A1.5 1.5 0 0 0 5 6.5v11A1.5 1.5 0 0 0 6.5 19H10M14.5 8l4 4-4 4M18 12H9.5" />
);
export const HookGlyph = () => <Glyph d="M8 7 3.5 12 8 17M16 7l4.5 5L16 17M13.5 5l-3 14" />;
export const BackGlyph = () => <Glyph isFlipped d="M8.5 5.5 4 10l4.5 4.5M4.5 10H15a5 5 0 0 1 0 9h-3.5" />;
export const OutGlyph = () => (
  <Glyph d="M12 14.5V4M7.5 8.5 12 4l4.5 4.5M4.5 14v4.5A1.5 1.5 0 0 0 6 20h12a1.5 1.5 0 0 0 1.5-1.5V14" />
);
export const PulseGlyph = () => <Glyph d="M3 12.5h4l2.5-7 5 13 2.5-6h4" />;
export const MenuGlyph = () => <Glyph d="M5 12h.01M12 12h.01M19 12h.01" />;
