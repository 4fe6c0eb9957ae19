import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.boost.DelimitedBoostTokenFilter;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.synonym.SolrSynonymParser;
import org.apache.lucene.analysis.synonym.SynonymGraphFilter;
import org.apache.lucene.analysis.synonym.SynonymMap;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.search.BoostAttribute;

/**
 * Expands words as the query analyzer of synonyms-field.json does.
 *
 * Arguments: the file of synonyms, and one with a word a line. Prints the word, its synonym and the boost.
 */
public class ExpandWords {
    public static void main(String[] given) throws Exception {
        SolrSynonymParser parser = new SolrSynonymParser(true, true, new WhitespaceAnalyzer());
        try (Reader file = Files.newBufferedReader(Path.of(given[0]), StandardCharsets.UTF_8)) {
            parser.parse(file);
        }
        SynonymMap synonyms = parser.build();
        Analyzer analyzer = new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                WhitespaceTokenizer words = new WhitespaceTokenizer();
                TokenStream expanded = new SynonymGraphFilter(new LowerCaseFilter(words), synonyms, true);
                return new TokenStreamComponents(words, new DelimitedBoostTokenFilter(expanded, '|'));
            }
        };
        for (String word : Files.readAllLines(Path.of(given[1]), StandardCharsets.UTF_8)) {
            print(word, analyzer.tokenStream("text", word));
        }
    }

    private static void print(String word, TokenStream tokens) throws IOException {
        CharTermAttribute text = tokens.addAttribute(CharTermAttribute.class);
        BoostAttribute boost = tokens.addAttribute(BoostAttribute.class);
        tokens.reset();
        while (tokens.incrementToken()) {
            System.out.println(word + "\t" + text + "\t" + boost.getBoost());
        }
        tokens.close();
    }
}
