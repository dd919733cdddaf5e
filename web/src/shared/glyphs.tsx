import type { ReactNode } from 'react';

interface GlyphProps {
  /** The SVG path of the icon's lines. */
  readonly d?: string;
  /** Further shapes, drawn before the path. */
  readonly children?: ReactNode;
  /** True if the icon is mirrored where text runs from right to left. */
  readonly isFlipped?: boolean;
}

/** An icon on a grid of 24, drawn as lines of equal weight in the colour of the surrounding text. */
export function Glyph({ d, children, isFlipped = false }: GlyphProps) {
  return (
    <svg className={isFlipped ? 'glyph glyph-flips' : 'glyph'} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {children}
      {d && <path d={d} />}
    </svg>
  );
}

export const CheckGlyph = () => (
  <Glyph>
    <path className="draw" pathLength="1" d="M5 12.5 10 17.5 19.5 7" />
  </Glyph>
);
export const CrossGlyph = () => <Glyph d="M7 7l10 10M17 7 7 17" />;
export const ClockGlyph = () => (
  <Glyph d="M12 7.5V12l3 2">
    <circle cx="12" cy="12" r="8.5" />
  </Glyph>
);
export const ChevronGlyph = () => <Glyph isFlipped d="M9.5 6.5 15 12l-5.5 5.5" />;
export const OutGlyph = () => <Glyph isFlipped d="M9 6h9v9M18 6 7 17" />;
export const PhoneGlyph = () => (
  <Glyph d="M11 17.8h2">
    <rect x="7" y="3" width="10" height="18" rx="2.5" />
  </Glyph>
);
export const WalletGlyph = () => (
  <Glyph>
    <path d="M4 8.2A2.2 2.2 0 0 1 6.2 6H17v3" />
    <rect x="4" y="9" width="16" height="10" rx="2.2" />
    <path d="M15.8 14h.4" />
  </Glyph>
);
export const FlaskGlyph = () => (
  <Glyph d="M10 4v5.5L5.2 17.4A1.7 1.7 0 0 0 6.7 20h10.6a1.7 1.7 0 0 0 1.5-2.6L14 9.5V4M8.7 4h6.6M8 14h8" />
);
export const ShieldGlyph = () => (
  <Glyph>
    <path d="M12 3.5 5 6v5.2c0 4.3 2.9 7.6 7 9.3 4.1-1.7 7-5 7-9.3V6z" />
    <path d="m9.2 11.8 2 2 3.6-3.9" />
  </Glyph>
);
export const InfoGlyph = () => (
  <Glyph d="M12 11v5M12 8v.1">
    <circle cx="12" cy="12" r="8.5" />
  </Glyph>
);
export const AlertGlyph = () => <Glyph d="M12 4.5 3.8 18.6h16.4zM12 10v4M12 16.4v.1" />;
export const CloudGlyph = () => (
  <Glyph d="M4 4l16 16M8.5 8.2A6 6 0 0 0 7 18h9.5M11 6.6a5.6 5.6 0 0 1 6.4 4.6 3.4 3.4 0 0 1 2.2 5.4" />
);
export const SearchGlyph = () => (
  <Glyph d="m16 16 4 4">
    <circle cx="11" cy="11" r="6.5" />
  </Glyph>
);
export const CopyGlyph = () => (
  <Glyph d="M5.5 15A1.5 1.5 0 0 1 4 13.5v-7A2.5 2.5 0 0 1 6.5 4h7A1.5 1.5 0 0 1 15 5.5">
    <rect x="9" y="9" width="11" height="11" rx="2.5" />
  </Glyph>
);
export const PenGlyph = () => <Glyph d="M4.5 19.5h15M6 15.8 15.8 6a1.9 1.9 0 0 1 2.7 2.7L8.7 18.5H6z" />;
