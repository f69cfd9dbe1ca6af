"""Which parts of a page are not what it is about: by its landmarks, by where its prose lies, by links and by names.

Names (`cookie-banner`, `share`) decide only beside an article, and nothing that holds the page's prose is left out,
whatever it is called. Where nothing looks like an article, landmarks are, and lists of links that are called nothing
but navigation.
"""

import re
from typing import Any

from upwell.parse.html.tags import BLOCKS, HEADING
from upwell.parse.html.weigh import Weights

NAVIGATION, BOILERPLATE = "navigation", "boilerplate"
TAGS = {"nav": NAVIGATION, "menu": NAVIGATION, "footer": BOILERPLATE, "button": BOILERPLATE, "select": BOILERPLATE}
ROLES = {
    "navigation": NAVIGATION,
    "menu": NAVIGATION,
    "menubar": NAVIGATION,
    "tablist": NAVIGATION,
    "search": BOILERPLATE,
    "banner": BOILERPLATE,
    "contentinfo": BOILERPLATE,
    "dialog": BOILERPLATE,
    "alertdialog": BOILERPLATE,
    "toolbar": BOILERPLATE,
    "button": BOILERPLATE,
}
NAMES = re.compile(
    r"(?:^|[\s_-])(?:(?:site|global|main|top|page|primary|secondary|sub)?[_-]?(?:nav|navi|navbar|navigation|menu|header|footer)|"
    r"breadcrumbs?|cookies?|cookiebanner|consent|gdpr|onetrust|sidebar|masthead|social|share|sharing|sharebar|sharedaddy|addthis|"
    r"skip|skiplink|pagination|pager|advert|adverts|advertisement|ads?|sponsor(?:ed)?|promo|newsletter|subscribe|signup|"
    r"popup|modal|toolbar|jump-link|related(?:[_-]?(?:posts?|articles?|links?|content))?|recommend(?:ed|ations)|"
    r"more-(?:stories|articles)|trending|navbox|vertical-navbox|catlinks|printfooter|editsection|headerlink|toc|"
    r"table-of-contents|tag(?:s|list|-list|-cloud)|widget|back-to-top|paywall)(?:$|[\s_-])",
    re.IGNORECASE,
)
SURE_NAMES = re.compile(
    r"(?:(?:mw|site|main|global|page|top|primary|secondary|sphinx|bd|vertical|local|sub)[_-]?)?(?:nav|navbar|navigation|"
    r"menu|sidebar|sidebarwrapper|toc|table-of-contents|breadcrumbs?|navbox|catlinks|pagination|pager|related|"
    r"recommend(?:ed|ations)?|headerlink|editsection|skip-?link)",
    re.IGNORECASE,
)
FOOTERS = re.compile(r"(?:(?:mw|site|main|global|page)[_-]?)?footer", re.IGNORECASE)
REMARKS = re.compile(
    r"(?:^|[\s_-])(?:comments?|comment-?(?:list|section|area|thread)|commentlist|disqus(?:[_-]thread)?|respond|replies|"
    r"discussion)(?:$|[\s_-])",
    re.IGNORECASE,
)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
NAMED_TAGS = frozenset(
    {"div", "ul", "ol", "section", "aside", "header", "p", "a", "table", "form", "dl", "span", "details", "nav"}
)
SECTION_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
WHOLE_TAGS = frozenset({"p", "table", "li", "pre", "blockquote"})
ARTICLE_CHARS = 250
CONTENT_SHARE = 0.4
PROSE_SHARE = 0.3
INTO_SHARE = 0.8
MAIN_SHARE = 0.5
LINK_LIST = 0.5
SURE_LIST = 0.33
LEAST_LEFT = 40
LONGEST_NAMES = 500


class Judge:
    """Says of each element of a page whether it, and all below it, is left out, and why."""

    def __init__(self, root: Any, weights: Weights) -> None:
        self.weights = weights
        body = root.find("body")
        self.body = body if body is not None else root
        self.prose = weights[self.body].prose
        self.has_article = self.prose >= ARTICLE_CHARS
        declared = self._declared()
        self.is_declared = declared is not None
        self.main = declared if declared is not None else self._heart()
        self._way = {self.main, *self.main.iterancestors()}
        self._titled = weights[self.main].titles > 0
        self._is_body = self.main is self.body

    def why(self, element: Any, *, inside_main: bool) -> str | None:
        """Why the element is left out; None for one that is kept, or whose parts are yet to be judged."""
        if element in self._way or not self.weights[element].chars:
            return None
        reason = (
            self._by_landmark(element, inside_main=inside_main)
            or self._by_name(element, inside_main=inside_main)
            or self._by_sure_name(element, inside_main=inside_main)
            or self._by_links(element, inside_main=inside_main)
            or self._above_links(element, inside_main=inside_main)
        )
        return reason if reason and not self._holds_the_page(element) else None

    def _declared(self) -> Any:
        """The element that the page says is its content, when it holds half of its prose, or of its words."""
        found = self.body.xpath(".//main | .//*[@role='main']") or self.body.xpath(".//article")
        found = [e for e in found if not _inside(e, "article", "main")]
        if len(found) != 1:
            return None
        weight, page = self.weights[found[0]], self.weights[self.body]
        if self.has_article:
            return found[0] if weight.prose >= MAIN_SHARE * self.prose else None
        return found[0] if weight.chars and weight.chars >= PROSE_SHARE * page.chars else None

    def _heart(self) -> Any:
        """The deepest element that holds most of the prose."""
        heart = self.body
        while self.has_article:
            deeper = max(heart, key=lambda child: self.weights[child].prose, default=None)
            if deeper is None or deeper.tag not in BLOCKS or deeper.tag in WHOLE_TAGS:
                break
            if self.weights[deeper].prose < INTO_SHARE * self.prose:
                break
            heart = deeper
        return heart

    def _by_landmark(self, element: Any, *, inside_main: bool) -> str | None:
        tag = element.tag
        role = (element.get("role") or "").strip().lower()
        if tag == "footer" and _inside(element, "blockquote", "figure"):
            return None
        if reason := TAGS.get(tag) or ROLES.get(role):
            return reason
        if tag not in {"header", "aside"} and role != "complementary":
            return None
        if inside_main and not self._is_body:
            return BOILERPLATE if tag != "header" and self.weights[element].density >= LINK_LIST else None
        if _inside(element, "article", "main") or self._is_the_title(element, inside_main=self._is_body):
            return None
        return BOILERPLATE

    def _by_name(self, element: Any, *, inside_main: bool) -> str | None:
        if not self.has_article or element.tag not in NAMED_TAGS or element.get("role") == "note":
            return None
        names = _names(element)
        if REMARKS.search(names):
            left = self.prose - self.weights[element].prose
            return BOILERPLATE if left >= ARTICLE_CHARS and _is_apart(element) else None
        if not NAMES.search(names) or self._is_the_title(element, inside_main=inside_main):
            return None
        return BOILERPLATE if self.weights[element].prose <= PROSE_SHARE * self.prose else None

    def _by_sure_name(self, element: Any, *, inside_main: bool) -> str | None:
        """However short the page: what is called a footer, and links that are called nothing but navigation."""
        if element.tag not in NAMED_TAGS:
            return None
        names = [name for name in _given(element).split() if SURE_NAMES.fullmatch(name) or FOOTERS.fullmatch(name)]
        weight = self.weights[element]
        left = self.weights[self.body].chars - weight.chars
        if not names or left < LEAST_LEFT or self._is_the_title(element, inside_main=inside_main):
            return None
        if any(map(FOOTERS.fullmatch, names)):
            return None if _inside(element, "article", "table", "blockquote", "figure") else BOILERPLATE
        return BOILERPLATE if not weight.prose and weight.links and weight.listed >= SURE_LIST else None

    def _by_links(self, element: Any, *, inside_main: bool) -> str | None:
        """Beside the content: lists of links, and beside a declared one whatever is no prose."""
        if inside_main or not self.has_article or element.tag not in BLOCKS:
            return None
        weight = self.weights[element]
        if weight.prose or self._is_the_title(element, inside_main=False):
            return None
        return BOILERPLATE if self.is_declared or (weight.links and weight.listed >= LINK_LIST) else None

    def _above_links(self, element: Any, *, inside_main: bool) -> str | None:
        """A heading beside the content with nothing below it but lists of links goes with them."""
        if inside_main or element.tag not in SECTION_HEADINGS or self.weights[element].links:
            return None
        below = 0
        for after in element.itersiblings():
            if isinstance(after.tag, str) and self.weights[after].chars:
                if HEADING.fullmatch(after.tag):
                    break
                if after in self._way or not self._by_links(after, inside_main=False):
                    return None
                below += 1
            if (after.tail or "").strip():
                return None
        return BOILERPLATE if below else None

    def _is_the_title(self, element: Any, *, inside_main: bool) -> bool:
        """Whether it holds the content's heading: one inside the content, or one above it when that has none."""
        return self.weights[element].titles > 0 and (inside_main or not self._titled)

    def _holds_the_page(self, element: Any) -> bool:
        """Whether leaving it out would leave too little: it is content, whatever it is called."""
        weight, page = self.weights[element], self.weights[self.body]
        left = self.prose - weight.prose
        if left >= ARTICLE_CHARS and (left >= MAIN_SHARE * self.prose or REMARKS.search(_names(element))):
            return False
        return weight.chars > CONTENT_SHARE * page.chars and weight.density < 2 * CONTENT_SHARE


def _given(element: Any) -> str:
    """Its names as they were given; an endless list of them says nothing."""
    names = f"{element.get('id') or ''} {element.get('class') or ''}".strip()
    return names if len(names) <= LONGEST_NAMES else ""


def _names(element: Any) -> str:
    return CAMEL.sub("-", _given(element))


def _inside(element: Any, *tags: str) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _is_apart(element: Any) -> bool:
    """Whether remarks are a section of their own: not one of the like that make up the page (a forum's posts)."""
    own = (element.get("class") or "").split()[:1]
    beside = (element.getprevious(), element.getnext())
    return not own or all(
        b is None or not isinstance(b.tag, str) or (b.get("class") or "").split()[:1] != own for b in beside
    )
