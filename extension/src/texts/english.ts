/**
 * Every sentence of the add-on. What stands in braces is put in; `languageTag` says by whose rules numbers are written.
 * The words are those of a master's pages: depot, chain, leg, origin, direct.
 */
export const ENGLISH = {
  languageTag: 'en',
  description: 'Makes far downloads fast: a chain of short connections instead of one long one.',
  you: 'you',
  origin: 'origin',
  actionOf: '{action}: {name}',

  stateReady: 'Ready. Far downloads come through depots where that is faster.',
  stateRunning: 'Downloads through depots now: {count}',
  stateOff: 'Off. All downloads come directly.',
  stateNotYet: 'Nothing is led elsewhere before you say yes.',
  stateNoMaster: 'One step left: Longhaul needs a master.',
  stateNoAccess: 'The browser does not let Longhaul see all downloads.',
  stateTrouble: 'A download waits for you.',

  on: 'On',
  off: 'Off',
  switchName: 'Longhaul on',
  welcomeNotice: 'Three short screens say what Longhaul does and who learns what. Then you decide.',
  welcomeOpen: 'Begin',
  masterNotice: 'Set the address of your master, and far downloads become faster.',
  masterSet: 'Set the master',
  accessNotice:
    'Only with access to web addresses can Longhaul see what a site says of a file, and ask a depot for it. Where it has none, downloads stay as they are.',
  accessAllow: 'Allow it',
  options: 'Options',

  runningTitle: 'Running downloads',
  runningNone: 'Nothing runs through depots now.',
  doneTitle: 'Finished',
  leftTitle: 'Left to the browser',
  clear: 'Clear',
  progressOf: 'Progress of {name}',
  amountOf: '{received} of {total} ({percent})',
  timeLeft: 'about {time} left',
  nothingComes: 'nothing comes at the moment',
  beginning: 'beginning',
  directlyAbout: 'directly about {time}',
  cameDirect: 'No depot goes on with it: it comes directly.',
  choseDirect: 'It comes directly, as you chose.',
  chainNow: 'The chain, as its depots measure it now',
  chainPlanned: 'The chain, as it was planned',
  legSpoken: 'from {from} to {to}: {rate}, round trip {rtt}',
  legQuiet: 'from {from} to {to}: round trip {rtt}',
  slowestLeg: 'slowest leg',
  useDirect: 'Use direct',
  anotherPath: 'Another path',
  showFile: 'Show in folder',
  tryNow: 'Try now',
  goOn: 'Go on',
  anewDirectly: 'Download it anew, directly',
  leadAnew: 'In this browser it starts again at its first byte. Press once more if you want that.',
  noOtherPath: 'There is no other path now. It goes on as before.',
  noDirect: 'The site does not give this version of the file directly now. It goes on as before.',
  doneIn: '{size} in {time}',
  donePredicted: 'predicted {time}',
  doneDirectly: 'It came directly in the end.',
  directMeasured: 'The time of a direct download is worked out from measured links.',
  directConfigured:
    'The time of a direct download is worked out from links that the master’s operator typed in.',
  directDerived: 'The time of a direct download is put together from other links.',
  directAssumed: 'The time of a direct download is assumed: nothing of that way is measured.',
  veryLong: 'very long',

  haltNetworkAway: 'The network was away.',
  haltBroke: 'The connection broke.',
  haltRefused: 'The depot or the site refused.',
  haltBrowserEnded: 'The browser ended.',
  haltNoRoom: 'There is no room on the disk.',
  haltNoAccess: 'The browser may not write there.',
  haltForbidden: 'The browser, or who manages it, forbids this file.',
  haltNoWrite: 'The browser cannot write the file.',
  haltSilent: 'Nothing came for a minute.',
  haltOtherFile: 'Something else came in its place, perhaps from a network that wants you to log in.',
  haltOtherVersion: 'The site has another version of the file now.',
  nextPaused: 'Paused.',
  nextChecked:
    'All of it is here: the browser looks at it, or asks you in its list of downloads whether to keep it.',
  nextLost: 'It could not be started again.',
  nextClick: 'What is on disk is kept: go on by a click.',
  nextStuck: 'What is on disk is kept: make room and go on by a click.',
  nextTryIn: 'What is on disk is kept; it is tried again in {time}.',
  nextTryNow: 'What is on disk is kept; it is tried again now.',

  cameDirectly: '{name} came directly.',
  someDownload: 'The last download',
  said: 'It said: {words}',
  leftContainer:
    'It belongs to a container tab, whose cookies Longhaul does not have. Open the link in an ordinary tab.',
  leftPrivateHost: 'Its host is private. Permit the host in the options if depots may fetch from it.',
  leftPrivateAddress:
    'Its host, or your proxy or VPN, has a private address on this network. Permit the host in the options if depots may fetch from it.',
  leftSiteOff: 'You want nothing of its site through depots. The options have the list of sites.',
  leftSmall: 'It is small and arrives just as fast. The options have the smallest size.',
  leftNoAccess: 'Longhaul may not reach every site, master and depot. Allow it in the popup.',
  leftUnseen:
    'The browser did not show how it was asked for. Use “Download through Longhaul” in the link’s menu.',
  leftPost: 'It answers a form, which can be asked only once.',
  leftSavedAs:
    'You chose where to save it, and that is kept. Use “Download through Longhaul” in the link’s menu to have it in the downloads folder.',
  leftPersonal: 'The site made it for you alone: depots have no login of yours.',
  leftEncoded: 'The site compresses it on the way, so it could not be continued.',
  leftNoRanges: 'The site does not let downloads be continued, so nothing could be mended on the way.',
  leftNoVersion:
    'The site does not say which version of the file it is, so parts could not be joined safely.',
  leftMasterSilent: 'The master did not answer in time. Test it in the options.',
  leftMasterRefused: 'The master refused.',
  leftNoMasterThere: 'What answers at the master’s address is no master. Check the address in the options.',
  leftMasterElsewhere:
    'The master calls itself by another address than the one in the options. Test it there to see which.',
  leftPlanUnfit: 'The master’s plan led elsewhere, so it was not followed. Tell the master’s operator.',
  leftDirectIsBest: 'No chain of depots is faster for it. Nothing is to be done.',
  leftInsecureChain:
    'The chain would give up its encryption. The master’s operator can give the depots certificates.',
  leftDepotSilent: 'The depot did not answer in time. Another try may find a better one.',
  leftDepotRefused: 'The depot could not get the file.',
  leftDifferentFile: 'The depot got another version of the file than your browser.',
  leftFinished: 'It was finished first.',
  leftWarned: 'Your browser warns of it.',
  leftNearlyDone: 'It was nearly done.',

  leftKeyHeld: 'You held the key that leaves a download to the browser. The options say which key that is.',
  leftKind: 'You do not want files of its kind through depots. The options have the kinds.',
  leftNoRoom: 'The browser has no room to remember it. Clear the list above, or make room on the disk.',
  siteOn: 'On {site}',
  siteUsual: 'as the rules say',
  siteAlways: 'always through depots',
  siteNever: 'never',
  siteTunnel: 'through a tunnel',
  leftTunnel: 'Its site goes through a tunnel: your browser asks it itself.',
  leftNotHttps: 'Only https can go through a tunnel.',
  leftSocks: 'Its site goes through your SOCKS proxy.',
  leftDepotTaken:
    'The depots near you are tunnels of other sites. In Chromium each serves one until the browser ends.',
  leftSystemProxy:
    'Your system seems to set a proxy. In Chromium a tunnel would take it from all sites, so there is none.',
  tunnelNow: 'Through a tunnel now: {chain}. Depots see nothing of the content.',
  tunnelDirect: 'Directly now. {why}',
  tunnelNotAllowed:
    'The browser does not let Longhaul set a proxy: sites with a tunnel come directly. Choose again to be asked again.',
  optionsTunnel: 'Through a tunnel, with your login',
  optionsTunnelHint:
    'All of such a site comes through depots, with your login, where that is faster. It needs https. When a depot or the master is away, the site comes directly. One site per line.',
  optionsTunnelWho:
    'Through a tunnel your browser and the site encrypt as always: depots see the name of the site, how much passes and your network address, but no content, cookies or addresses of pages. Your master learns the name of the site. The site sees a depot’s address in place of yours.',
  optionsTunnelHostWide:
    'Chromium has one proxy setting for all sites: while a tunnel stands, no site uses proxies of your system. The first request to a site comes directly.',
  slowChanged: 'Its way was slow, so it was changed.',
  slowNoOther: 'It was slower than planned for a while, and no faster way was found.',
  choseElsewhere: 'It was led over another path, as you chose.',
  wentOn: 'Times that its way broke and it went on: {count}.',
  beganAgain: 'Times that it began again at its first byte: {count}.',
  optionsNever: 'Never for these sites',
  optionsNeverHint:
    'Their downloads are always left to the browser, with all names below them. One site per line; the popup puts the site of the current tab here, too.',
  optionsAlways: 'Always for these sites',
  optionsAlwaysHint:
    'Their files are taken whatever their kind and size, if a chain is faster. One site per line.',
  optionsKinds: 'Kinds of files',
  kindsAll: 'all kinds',
  kindsOnly: 'only these',
  kindsExcept: 'all but these',
  kindsHint: 'The ends of their names, with blanks between: {examples}.',
  kindsList: 'Ends of names',
  optionsKey: 'Key that leaves a download to the browser',
  optionsKeyHint:
    'Held while you click. To see it, a small script runs in pages; it tells of held keys and of nothing else.',
  keyNone: 'none',
  optionsWaste: 'No wasted byte',
  optionsWasteHint:
    'Requests are led to depots before the site sends anything. Names in “download” attributes are lost then, and in Chromium nothing can be compared with an answer of the site.',
  optionsWasteOn: 'Lead requests to depots at once',
  shareTellHint:
    'Your master plans better, for you too, when it learns what its plans really gave. It is told the number, bytes and seconds of each download that it has planned, no address. Up to four depots that it names see how far you are.',
  shareTell: 'Tell the master how its plans went',
  optionsNoRoom: 'The browser has no room left: nothing was changed.',
  importTooLarge: 'This file is larger than any list of rules. Nothing was changed.',
  importNotJson: 'This file is not whole, or no list of rules. Nothing was changed.',
  importNotRules: 'This file has no rules of Longhaul. Nothing was changed.',
  importNewer: 'A newer version of Longhaul wrote this file. Nothing was changed.',
  importBadEntry: 'In this file something is not what it should be: {place}. Nothing was changed.',
  problemDamaged:
    'Some of the stored settings were damaged and have their defaults now. Look at them and save.',
  problemNewer: 'A newer version of Longhaul wrote these settings: what this one does not know is kept.',
  mistakeSite: '“{line}” is not a site. Write its host, for example downloads.example.org.',
  mistakeKind: '“{kind}” is not the end of a file’s name. Write for example iso or tar.gz.',

  menuThrough: 'Download through Longhaul',
  menuDirectly: 'Download directly',

  noticeFailedTitle: 'A download waits for you',
  noticeFailed: '{name}: {why}',
  noticeRescuedTitle: 'Brought to its end',
  noticeRescued: '{name} is whole, although its way broke on the way.',
  badgeTrouble: 'Longhaul: a download waits for you',

  optionsTitle: 'Longhaul options',
  optionsMaster: 'Master',
  optionsMasterHint:
    'The address of the service that plans your downloads, given to you by its operator. It learns the address of every download that is large enough, so use one that you trust.',
  optionsTest: 'Test',
  optionsAsking: 'Asking…',
  optionsSmallest: 'Smallest size',
  optionsSmallestHint: 'Smaller files arrive just as fast without depots.',
  optionsPrivate: 'Private hosts permitted',
  optionsPrivateHint:
    'Downloads from private and intranet hosts stay as they are, their addresses are not told to the master, and no depot is asked there, unless a host stands here. One per line: {examples}.',
  optionsSave: 'Save',
  optionsSaved: 'Saved',
  optionsFile: 'Rules as a file',
  optionsFileHint:
    'Which downloads are taken, to keep or to give away: sites, kinds, size and key. Master and private hosts are not in it. What is read takes the place of what is set here.',
  optionsExport: 'Write a file',
  optionsImport: 'Read a file',
  importDone: 'Read. The rules are those of the file now.',
  mistakeMaster: 'Give the host, for example master.example.org, and nothing after it.',
  mistakeSmallest: 'Give a number of megabytes, 0 or more.',
  mistakePrivate: '“{line}” is not a host. Write name, *.name or address, with :port if it needs one.',

  shareTitle: 'What is sent where',
  shareNothing: 'To the makers of Longhaul: nothing. There is no account, and nobody counts you.',
  shareMaster:
    'To your master: the address and size of each download that is large enough and not marked as yours, when it begins. Nothing about other pages.',
  shareDepots:
    'To the depots of a plan: the address of that download and your network address. They pass the file on, so they see its content, for https as well.',
  shareNever:
    'To neither: cookies, logins, forms, private windows, and what a site made for you alone. Those downloads come directly.',
  shareHere:
    'Kept in this browser only: these options, the list of downloads below, and why the last one was left alone.',

  historyTitle: 'What it brought',
  historyEmpty: 'No download has come through depots yet.',
  historyTotals: 'Downloads through depots since {date}: {count}, together {size}.',
  historySaved:
    'Those without a pause took {time}; directly they would have taken about {direct}, as the master predicted. Nobody measured that.',
  historyErase: 'Erase the list',
  historyColumnFile: 'File',
  historyColumnWhen: 'When',
  historyColumnSize: 'Size',
  historyColumnTook: 'Took',
  historyColumnDirect: 'Directly, predicted',
  historyBound: 'The list keeps the last {count} downloads; the sums count on.',

  testServes: 'This master serves you: it answered in {time}.',
  testNoDepots: 'This master serves you, but has no depot now: downloads stay direct until it has.',
  testSomeOrigins:
    'This master answers in {time}. From where you are it serves only sites that its operator has named; ask there if you miss one.',
  testNote: 'Its operator says: {note}',
  testName: 'It calls itself {name}.',
  testDepotsUp: 'Depots ready now: {up} of {all}.',
  testBadAddress:
    'This is not an address of a master: give its host, for example master.example.org, and nothing after it.',
  testUnreachable: 'Nothing answers there: check the address, and whether the master runs.',
  testNoMaster: 'Something answers there, but not as a master does: check the address.',
  testElsewhere: 'This master calls itself {address}: set that address, or its links are not followed.',
  testRefused: 'The master refused: {message}',

  welcomeTitle: 'Welcome to Longhaul',
  welcomeStep: '{step} of {steps}',
  welcomeNext: 'Next',
  welcomeBack: 'Back',
  welcomeWhat: 'Far downloads, faster',
  welcomeWhatWhy:
    'A download from far away is slow because every loss on its long way is repaired from the far end. Longhaul leads it through depots: a chain of short connections, each quick to repair.',
  welcomeWhatWhen:
    'That happens only where the chain is predicted to be faster. Everything else stays as it is, and when something breaks, what is on disk is kept.',
  welcomeWho: 'Who learns what',
  welcomeWhere: 'Your master, and your yes',
  welcomeWhereWhy:
    'Your operator, your university or a friend runs a master, and gave you its address. You can change it at any time.',
  welcomeAccess:
    'The browser will ask you to allow access to web addresses: only so can Longhaul see what a site says of a file, and ask a depot for it. It reads no pages.',
  welcomeYes: 'Yes, begin',
  welcomeNotNow: 'Not now',
  welcomeDone: 'Longhaul is ready. Its button shows what it does; its options change everything.',
  welcomeLater: 'Nothing is led elsewhere. The button of Longhaul brings you back here.',
} as const;

export type TextKey = keyof typeof ENGLISH;

/** All sentences in one language. */
export type Texts = Readonly<Record<TextKey, string>>;
