/** Put in by the build, which leaves out what is another browser's; unit tests run without one. */
declare const __LONGHAUL_TARGET__: 'chrome' | 'firefox';

export const isChromium: boolean =
  typeof __LONGHAUL_TARGET__ !== 'undefined' && __LONGHAUL_TARGET__ === 'chrome';
